"""Calls that verify a lift: they meet what it assumes, and something is stored in them."""

from __future__ import annotations

import random

import pytest

from intentc.lift_verification import LARGER_INTEGER, SMALL_INTEGER, verify
from intentc.lift_verification import _drawn as drawn
from translators.algebra.polynomial import ceiling_divide, number, symbol
from translators.lifting.correspondence import Correspondence, draw
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted, lift_kernel
from translators.triton_source.read.source import read_file

HEADER = "import triton\nimport triton.language as tl\n"

# The host counts blocks of another number than the one that masks compare with.
SPLIT_ROWS = """
@triton.jit
def kernel(x, out, n, row_stride, rows, B: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    i = part * B + tl.arange(0, B)
    value = tl.load(x + row * row_stride + i, mask=i < n, other=-float("inf"))
    most = tl.max(value, 0)
    tl.store(out + part * rows + row, tl.log(tl.sum(tl.exp(value - most), 0)) + most)


def host(x, out, wanted):
    rows, n = x.shape
    kernel[(rows, triton.cdiv(wanted, 16))](x, out, n, x.stride(0), rows, B=16)
"""

# Nothing is stored of a segment without rows.
SEGMENTS = """
@triton.jit
def kernel(x, starts, out, n, B: tl.constexpr, R: tl.constexpr):
    segment, part = tl.program_id(0), tl.program_id(1)
    begin, end = tl.load(starts + segment), tl.load(starts + segment + 1)
    if end - begin == 0:
        return
    i = part * B + tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for first in range(0, end - begin, R):
        r = first + tl.arange(0, R)
        inside = (r[:, None] < end - begin) & (i[None, :] < n)
        total += tl.sum(tl.load(x + (begin + r[:, None]) * n + i[None, :], mask=inside, other=0.0), 0)
    tl.store(out + segment * n + i, total, mask=i < n)


def host(x, starts, out):
    n = x.shape[1]
    kernel[(len(starts) - 1, triton.cdiv(n, 16))](x, starts, out, n, B=16, R=16)
"""

# Sums of blocks of some rows, but not of the first one.
PARTS = """
@triton.jit
def kernel(x, chosen, out, n, FACTOR: tl.constexpr, MORE: tl.constexpr, B: tl.constexpr):
    row, part = tl.program_id(0), tl.program_id(1)
    i = part * B + tl.arange(0, B)
    place = tl.load(chosen + row)
    if place == 0:
        return
    total = tl.sum(tl.load(x + place * n + i, mask=i < n, other=0.0), 0)
    tl.store(out + row * tl.cdiv(n, B) + part, total * (1 + FACTOR) + (1 - MORE))


def host(x, chosen, out, factor, more, block):
    (rows,), n = chosen.shape, x.shape[1]
    kernel[(rows, triton.cdiv(n, block))](x, chosen, out, n, factor, more, block)
"""
TEXTS = {"split rows": SPLIT_ROWS, "segments": SEGMENTS, "parts": PARTS}


def lifted(text: str) -> tuple[Lifted, Correspondence]:
    file = read_file(HEADER + text, "kernel.py")
    (function,) = file.kernels
    kernel = lift_kernel(file, function, launches(file).get(function.name))
    assert kernel.correspondence is not None, kernel.reason
    return kernel, kernel.correspondence


@pytest.mark.parametrize("calls", [2, 5])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_stores_the_same(text: str, calls: int) -> None:
    kernel, _ = lifted(text)
    result = verify(HEADER + text, "kernel.py", kernel, calls)
    assert result.holds, str(result)
    assert result.calls == calls


def test_every_block_that_has_a_maximum_has_a_lane() -> None:
    """A block of nothing gives NaN, the lifted kernel's gives -inf: the report says that no launch has one."""
    kernel, correspondence = lifted(SPLIT_ROWS)
    assert any("no program has only lanes that a mask leaves out" in note.text for note in kernel.notes)
    block = number(16)
    blocks = ceiling_divide(symbol("wanted"), block)
    assert symbol("n") - 1 - block * (blocks - 1) in correspondence.facts
    for seed in range(20):
        call = draw(correspondence, random.Random(seed))
        assert call is not None
        n, size = call.numbers["n"], call.numbers["B"]
        assert isinstance(n, int) and isinstance(size, int)
        assert size * (call.grid[1] - 1) < n


def test_where_nothing_was_stored_integers_are_not_all_0() -> None:
    _, correspondence = lifted(SEGMENTS)
    assert all(call.limit >= 3 for call in drawn(correspondence, 5, LARGER_INTEGER))


def test_kept_groups_have_one_size_in_all_calls() -> None:
    kernel, correspondence = lifted(PARTS)
    assert kernel.groups == ("B", "FACTOR", "MORE")
    for largest in (SMALL_INTEGER, LARGER_INTEGER):
        calls = drawn(correspondence, 5, largest)
        assert len(calls) == 5
        assert len({tuple(call.numbers[name] for name in kernel.groups) for call in calls}) == 1
        assert len({call.numbers["n"] for call in calls}) > 1
