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


PUBLISHED = page.cells(page.PAGE.read_text(encoding="utf-8"))


def test_the_page_has_every_row_and_no_failure() -> None:
    assert set(PUBLISHED) == {(row.subject, row.dtype) for row in ROWS}
    assert not [key for key, cells in PUBLISHED.items() if not all(cells) or any("FAIL" in cell for cell in cells)]


@pytest.mark.parametrize("row", SAMPLE, ids=[row.identity for row in SAMPLE])
def test_cells_of_a_row_are_those_of_the_page(row: Row) -> None:
    published = dict(zip(running.COLUMNS, PUBLISHED[row.subject, row.dtype], strict=True))
    found = {column: page.cell(outcome, {}) for column, outcome in running.outcomes(row).items()}
    assert found == {column: published[column] for column in found}
