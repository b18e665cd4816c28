"""Lifting of coordinates that wrap around: rows within blocks that a table places, and lanes modulo a size."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from tests.test_lift_reading import HEADER
from tests.test_lift_recurrences import lines_of
from translators.lifting.files import lift_text
from translators.lifting.lift import Lifted

PAGED = """
@triton.jit
def kernel(x_ptr, pages_ptr, table_ptr, lengths_ptr, per_row, per_page, per_place, size, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    last = tl.load(lengths_ptr + row) - {shift}
    page = tl.load(table_ptr + row * per_row + last // size)
    i = tl.arange(0, BLOCK)
    tl.store(pages_ptr + page * per_page + last % {divisor} * per_place + i, tl.load(x_ptr + row * BLOCK + i))


def call(x, pages, table, lengths):
    kernel[(x.shape[0],)](
        x, pages, table, lengths, table.stride(0), pages.stride(0), pages.stride(1), pages.shape[1], BLOCK=x.shape[1]
    )
"""
WRAPPED = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {stored}


def call(x, y):
    kernel[({programs},)](x, y, x.shape[0], BLOCK=16)
"""
WHOLE = {
    "stored": "tl.store(y_ptr + i % n, tl.load(x_ptr + i % n) * 2)",
    "programs": "triton.cdiv(x.shape[0], 16)",
}
MEETING = {
    "values that differ between lanes of one element": {
        "stored": "tl.store(y_ptr + i % n, tl.load(x_ptr + i % n) * i)",
    },
    "a mask that leaves out some": {
        "stored": "tl.store(y_ptr + i % n, tl.load(x_ptr + i % n), mask=i != 3)",
    },
    "an element that another lane may have changed": {
        "stored": "tl.store(y_ptr + i % n, tl.load(y_ptr + i % n) * 2)",
    },
    "fewer lanes than elements": {"programs": "triton.cdiv(x.shape[0], 32)"},
    "an update for every lane": {"stored": "tl.atomic_add(y_ptr + i % n, tl.load(x_ptr + i % n))"},
}


def lifted(text: str) -> tuple[str, Lifted]:
    source = HEADER + textwrap.dedent(text)
    (kernel,) = lift_text(source, "kernel.py").kernels
    return source, kernel


@pytest.mark.parametrize("shift", [0, 1])
def test_places_in_blocks_are_coordinates(shift: int) -> None:
    text, made = lifted(PAGED.format(shift=shift, divisor="size"))
    last = "lengths_values" if not shift else "(lengths_values - 1)"
    (stored,) = [line for line in lines_of(made) if "I.scatter_unique(pages" in line]
    assert f"{last} % size" in stored and not any("select" in line for line in lines_of(made))
    assert f"numbers in lengths_ptr that place rows in blocks of them are at least {shift}" in {
        note.text for note in made.notes if note.basis == "assumed"
    }
    found = verify(text, "kernel.py", made, calls=4)
    assert found.holds, str(found)


def test_numbers_that_may_be_negative_place_nothing() -> None:
    _, made = lifted(PAGED.format(shift=2, divisor="size"))
    assert made.source is None


def test_lanes_that_wrap_around_count_once() -> None:
    text, made = lifted(WRAPPED.format(**WHOLE))
    assert lines_of(made)[-1] == "y[n_domain] = x[n_domain] * 2.0"
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


@pytest.mark.parametrize("changed", MEETING.values(), ids=MEETING)
def test_lanes_that_differ_where_they_meet_are_refused(changed: dict[str, str]) -> None:
    _, made = lifted(WRAPPED.format(**{**WHOLE, **changed}))
    assert made.source is None
