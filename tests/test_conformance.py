"""The table of conformance covers the language, and a fixed sample of its rows comes out well.

`make conformance` runs all of it and writes the matrix to `docs/conformance.md`.
"""

from __future__ import annotations

from zlib import crc32

import pytest
from conformance import page, running, table
from conformance.rows import SHAPES, Row

from intent.intrinsics import INTRINSICS

ROWS = table.rows()
SAMPLE = [row for row in ROWS if crc32(row.identity.encode()) % 24 == 0]

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


def test_every_intrinsic_has_rows() -> None:
    assert set(INTRINSICS) <= {row.subject for row in ROWS}


def test_rows_are_distinct() -> None:
    assert len({row.identity for row in ROWS}) == len(ROWS)


def test_only_programs_of_fixed_sizes_lack_a_shape() -> None:
    assert {row.subject for row in ROWS if row.legal and set(row.sizes) != set(SHAPES)} == {"quantized_dot"}


def test_a_page_gives_every_cell() -> None:
    some = {row: dict.fromkeys(running.COLUMNS, "ok") for row in ROWS[:40]}
    cells = page.cells(page.page(some))
    assert set(cells) == {(row.subject, row.dtype) for row in some}
    assert all(each == ("ok",) * len(running.COLUMNS) for each in cells.values())


@pytest.mark.parametrize("row", SAMPLE, ids=[row.identity for row in SAMPLE])
def test_no_cell_of_a_row_is_wrong(row: Row) -> None:
    found = running.outcomes(row)
    assert not [f"{column}: {cell}" for column, cell in found.items() if cell.startswith("FAIL")]
