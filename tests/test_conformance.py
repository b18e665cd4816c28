"""The table of conformance is complete, its page is its own, and a fixed sample of its rows comes out as the page says.

`make conformance` runs all of it.
"""

from __future__ import annotations

from zlib import crc32

import pytest
from conformance import page, running, table
from conformance.rows import SHAPES, Row

from intent.intrinsics import INTRINSICS

ROWS = table.rows()
PAGE = page.cells(page.PAGE.read_text(encoding="utf-8"))
SAMPLE = [row for row in ROWS if crc32(row.identity.encode()) % 24 == 0]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


def test_every_intrinsic_has_rows() -> None:
    assert set(INTRINSICS) <= {row.subject for row in ROWS}


def test_rows_are_distinct() -> None:
    assert len({row.identity for row in ROWS}) == len(ROWS)


def test_every_row_is_on_the_page() -> None:
    assert set(PAGE) == {(row.subject, row.dtype) for row in ROWS}, "run `make conformance`"


def test_no_cell_is_empty_or_wrong() -> None:
    for name, cells in PAGE.items():
        for cell in cells:
            assert cell in ("ok", "-") or cell.startswith(("INT", "unsupported INT")), (name, cell)


def test_shapes_that_a_program_lacks_are_few() -> None:
    """Only programs of fixed sizes have cells without an outcome."""
    assert {subject for (subject, _), cells in PAGE.items() if "-" in cells} <= {"quantized_dot"}


@pytest.mark.parametrize("row", SAMPLE, ids=[row.identity for row in SAMPLE])
def test_row_comes_out_as_on_the_page(row: Row) -> None:
    found = running.outcomes(row)
    stated = dict(zip(running.COLUMNS, PAGE[row.subject, row.dtype], strict=True))
    for shape in SHAPES:
        assert found[shape].partition(":")[0] == stated[shape], f"{shape}: {found[shape]}"
