"""Triton's histogram as a sum for each bin, and integers whose conversions and parts of sums say nothing."""

from __future__ import annotations

from intentc.lift_verification import verify
from translators.lifting.files import lift_text

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    counts = tl.zeros((BINS,), tl.int32)
    whole = n // BLOCK * BLOCK
    for start in range(0, whole, BLOCK):
        x = tl.load(x_ptr + start + tl.arange(0, BLOCK)).to(tl.int32)
        counts += tl.histogram(x, BINS{first}).to(tl.int64).to(tl.int32)
    for start in range({begin}, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n).to(tl.int32)
        counts += tl.histogram(x, BINS, mask=at < n).to(tl.int64).to(tl.int32)
    tl.store(out_ptr + tl.arange(0, BINS), counts)
"""


def _lifted(begin: str = "whole", first: str = "") -> str:
    source = lift_text(KERNEL.format(begin=begin, first=first), "kernel.py").source
    assert source is not None
    return source


def test_both_loops_count_one_row() -> None:
    lifted = _lifted()
    assert lifted.count("I.reduce.sum") == 1
    assert "I.domain(0, n)" in lifted and "BLOCK" not in lifted.replace("BINS", "")


def test_loops_that_do_not_adjoin_or_count_otherwise() -> None:
    assert _lifted(begin="whole + 1").count("I.reduce.sum") == 2
    assert _lifted(first=", mask=x > 1").count("I.reduce.sum") == 2


def test_values_outside_the_bins_count_nowhere() -> None:
    """Triton does not say what they do, and its interpreter counts the first of them in the last bin."""
    text = KERNEL.format(begin="whole", first="")
    (kernel,) = lift_text(text, "kernel.py").kernels
    assert any("outside the bins" in remark for remark in kernel.numerics)
    assert verify(text, "kernel.py", kernel, calls=8).holds, kernel.source
