"""Stores that have an element for every point, and nearly the same ones that do not."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted, lift_kernel
from translators.triton_source.read.source import read_file

HEAD = """
import triton
import triton.language as tl


@triton.jit
"""
FLAT = """
def flat(x, y, stride_x, stride_y, T, D: tl.constexpr, E: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + (at // D) * stride_x + at % D, mask=at < T, other=0.0)
    tl.store(y + ({row}) * stride_y + {column}, 2.0 * value, mask=at < T)
"""
DIGITS = """
def digits(x, y, R, S, T, D: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)
    mask = at < T * D * D
    tl.store(y + (at // {outer}) * R + (at // D) % D * S + at % D, tl.load(x + at, mask=mask), mask=mask)
"""


def lifted(text: str) -> Lifted:
    file = read_file(HEAD + text.strip(), "stores.py")
    (kernel,) = file.kernels
    return lift_kernel(file, kernel, launches(file).get(kernel.name))


def assert_verified(text: str) -> Lifted:
    kernel = lifted(text)
    assert kernel.source is not None, kernel.reason
    found = verify(HEAD + text.strip(), "stores.py", kernel, 3)
    assert found.holds, str(found)
    return kernel


def test_a_quotient_and_its_remainder_tell_the_coordinate() -> None:
    kernel = assert_verified(FLAT.format(row="at // D", column="at % D"))
    assert {repr(each.view.shape[-1]) for each in kernel.views} == {"D"}
    assert kernel.status == "lifted"


@pytest.mark.parametrize("row, column", [("at // D", "at % E"), ("at // E", "at % D"), ("(at + 1) // D", "at % D")])
def test_a_quotient_and_another_remainder_do_not(row: str, column: str) -> None:
    kernel = lifted(FLAT.format(row=row, column=column))
    assert kernel.source is None
    assert "may meet in one element" in (kernel.reason or "")


def test_three_digits_tell_the_coordinate() -> None:
    assert_verified(DIGITS.format(outer="(D * D)"))


def test_digits_that_miss_one_do_not() -> None:
    assert lifted(DIGITS.format(outer="(D * D * D)")).source is None
