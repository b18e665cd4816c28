"""Lifting of rows that an array of lengths bounds, and of scores that a large negative number masks."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from tests.test_lift_recurrences import lines_of
from tests.test_lift_wrapping import lifted

SOFTMAX = """
@triton.jit
def kernel(x_ptr, y_ptr, starts_ptr, lengths_ptr, BLOCK: tl.constexpr):
    start = tl.load(starts_ptr + tl.program_id(0))
    i = tl.arange(0, BLOCK)
    mask = i < tl.load(lengths_ptr + tl.program_id(0))
    value = tl.load(x_ptr + start + i, mask=mask, other={other})
    weight = tl.exp(value - tl.max(value, axis=0))
    tl.store(y_ptr + start + i, weight / tl.sum(weight, axis=0), mask=mask)


def call(x, y, starts, lengths, longest):
    kernel[(starts.shape[0],)](x, y, starts, lengths, BLOCK={block})
"""
COVERED = {"other": "-float('inf')", "block": "triton.next_power_of_2(longest)"}
CAUSAL = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK_M: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    i = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + row[:, None] * n + i[None, :], mask=(row[:, None] < n) & (i[None, :] < n), other=0.0)
    value = tl.where(row[:, None] {compared} i[None, :], value, {masked})
    weight = tl.exp(value - tl.max(value, axis=1)[:, None])
    tl.store(y_ptr + row, tl.sum(weight * {weighed}, axis=1) / tl.sum(weight, axis=1), mask=row < n)


def call(x, y):
    n = x.shape[0]
    kernel[(triton.cdiv(n, 16),)](x, y, n, BLOCK_M=16, BLOCK=triton.next_power_of_2(n))
"""


def test_rows_of_a_length_that_memory_gives_are_segments() -> None:
    text, made = lifted(SOFTMAX.format(**COVERED))
    assert made.status == "lifted" and lines_of(made)[-1].startswith("y[members] = ")
    notes = {note.text for note in made.notes if note.basis == "assumed"}
    assert "a segment has at most longest rows, which every launch covers" in notes
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


@pytest.mark.parametrize("block", ["16", "triton.next_power_of_2(starts.shape[0])"])
def test_lengths_that_no_block_covers_are_refused(block: str) -> None:
    _, made = lifted(SOFTMAX.format(**{**COVERED, "block": block}))
    assert made.source is None


def test_a_large_negative_number_masks_as_infinity_does() -> None:
    text, made = lifted(CAUSAL.format(compared=">=", masked="-1.0e8", weighed="2.0"))
    assert made.source is not None and not any("100000000" in line for line in lines_of(made))
    assert "numbers that are compared are larger than -100000000.0 by 152 or more" in {note.text for note in made.notes}
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


def test_a_row_that_is_masked_altogether_keeps_its_numbers() -> None:
    text, made = lifted(CAUSAL.format(compared=">", masked="-1.0e8", weighed="value"))
    assert made.source is not None and any("100000000" in line for line in lines_of(made))
    found = verify(text, "kernel.py", made, calls=3)
    assert found.holds, str(found)


def test_a_number_that_may_be_a_score_masks_nothing() -> None:
    _, made = lifted(CAUSAL.format(compared=">=", masked="-100.0", weighed="2.0"))
    assert made.source is None or any("-100.0" in line for line in lines_of(made))
