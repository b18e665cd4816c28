"""Host code that launches one kernel or another by one name, and blocks of rows that are counted in numbers."""

from __future__ import annotations

import textwrap

import pytest

from intentc.lift_verification import verify
from translators.lifting.files import lift_text, source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Launch
from translators.triton_source.read.source import read_file

KERNELS = """
import triton
import triton.language as tl


@triton.jit
def by_16(x, y, T, H, BLOCK: tl.constexpr):
    pass


@triton.jit
def by_32(x, y, T, H, BLOCK: tl.constexpr):
    pass
"""

HOST = """

def host(x, y, wide=False):
    B, T, H, BLOCK = x.shape
{chosen}
    run[(triton.cdiv(T, BLOCK), B)](x, y, T=T, H=H, BLOCK=BLOCK)
"""

BRANCHES = """
    if BLOCK == 16:
        run = by_16
    elif BLOCK == 32:
        run = by_32
"""


def found(chosen: str) -> dict[str, Launch]:
    return launches(read_file(KERNELS + HOST.format(chosen=chosen), "kernels.py"))


def test_each_kernel_is_launched_as_its_branch_says() -> None:
    made = found(BRANCHES)
    for name, size in (("by_16", 16), ("by_32", 32)):
        assert made[name].known.constants == {"BLOCK": size}
        assert "T" in repr(made[name].grid)


@pytest.mark.parametrize(
    ("chosen", "by_16", "by_32"),
    [
        ("    run = by_16 if BLOCK == 16 else by_32", {"BLOCK": 16}, {}),
        ("    first = by_32\n    run = first", None, {}),
        ("    run = by_16\n    run = by_32", None, {}),
        ("    run = by_16\n    run = something(by_16)", None, None),
        ("    run = by_16 if wide else something", None, None),
        ("    if BLOCK == 16:\n        run = by_16\n    else:\n        run = by_32\n        BLOCK = 8", {}, {}),
    ],
    ids=["one or the other", "a name of a name", "the last one", "something else", "or anything", "no longer true"],
)
def test_what_a_name_may_be(chosen: str, by_16: dict[str, int] | None, by_32: dict[str, int] | None) -> None:
    made = found(chosen)
    for name, constants in (("by_16", by_16), ("by_32", by_32)):
        assert (made[name].line > 0) == (constants is not None)
        if constants is not None:
            assert made[name].known.constants == constants


ROWS_OF_16 = """
import triton
import triton.language as tl


@triton.jit
def scaled(x, y, T, H, D: tl.constexpr):
    p, bh = tl.program_id(0), tl.program_id(1)
    b, h = bh // H, bh % H
    i, d = tl.arange(0, 16), tl.arange(0, D)
    t = p * 16 + i
    place = (b * T * H + h) * D + t[:, None] * (H * D) + d[None, :]
    block = tl.load(x + place, mask=t[:, None] < T, other=0.0)
    largest = tl.max(tl.max(tl.abs(block), 1), 0)
    out = (b * T * H + h) * 16 + t[:, None] * (H * 16) + i[None, :]
    row_sums = tl.sum(block, 1)
    tl.store(y + out, largest + row_sums[:, None] + i[None, :], mask=t[:, None] < T)


def host(x, y):
    B, T, H, D = x.shape
    scaled[(triton.cdiv(T, 16), B * H)](x, y, T, H, D)
"""


def test_blocks_of_so_many_rows_are_no_axis_of_their_own() -> None:
    """The last block of a batch is a part of one: a row of blocks would reach into the next batch."""
    (kernel,) = lift_text(ROWS_OF_16, "rows.py").kernels
    assert kernel.source is not None, kernel.reason
    source = source_of((kernel,), "rows.py")
    assert source is not None
    assert 'y: I.Out[I.f32, ("M", "T", "H", 16)]' in source
    assert verify(ROWS_OF_16, "rows.py", kernel, 3).holds


def test_rows_that_may_reach_into_the_next_batch_are_refused() -> None:
    text = ROWS_OF_16.replace("i[None, :], mask=t[:, None] < T)", "i[None, :])")
    (kernel,) = lift_text(text, "rows.py").kernels
    assert kernel.source is None
    assert textwrap.shorten(kernel.reason or "", 200)
