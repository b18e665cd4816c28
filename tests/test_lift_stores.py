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


PARTS = """
def parts(x, out, T, D, BT: tl.constexpr, BC: tl.constexpr, BD: tl.constexpr, NC: tl.constexpr):
    group, chunk, part = tl.program_id(2), tl.program_id(1) // NC, tl.program_id(1) % NC
    row = chunk * BT + part * BC + tl.arange(0, BC)
    column = tl.program_id(0) * BD + tl.arange(0, BD)
    mask = (row < T)[:, None] {both} (column < D)[None, :]
    at = group * T * D + row[:, None] * D + column[None, :]
    tl.store(out + at, tl.load(x + at, mask=mask) + 1.0, mask=mask)


def run(x, out, G, T, D):
    BT, BC = {sizes}
    NC = triton.cdiv(BT, BC)
    grid = lambda meta: (triton.cdiv(D, meta["BD"]), NC * triton.cdiv(T, BT), G)
    parts[grid](x, out, T, D, BT=BT, BC=BC, NC=NC)
"""


def test_parts_of_chunks_are_lifted_for_the_sizes_that_the_host_passes() -> None:
    kernel = assert_verified(PARTS.format(sizes="32, 16", both="&"))
    (out,) = (each.view for each in kernel.views if each.pointer == "out")
    assert tuple(map(repr, out.shape[1:])) == ("T", "D")
    assert any(note.basis == "host" and note.text.startswith("BC is 16") for note in kernel.notes)


@pytest.mark.parametrize("sizes", ["32, 24", "16, 32"])
def test_parts_that_overlap_in_what_the_host_passes_are_refused(sizes: str) -> None:
    assert lifted(PARTS.format(sizes=sizes, both="&")).source is None


def test_a_product_of_conditions_is_both() -> None:
    assert_verified(PARTS.format(sizes="32, 16", both="*"))
    assert "booleans" in (lifted(PARTS.format(sizes="32, 16", both="+")).reason or "")


ROW_SUMS = """
def row_sums(x, out, T, V, BV: tl.constexpr):
    part, row = tl.program_id(0) % tl.cdiv(V, BV), tl.program_id(0) // tl.cdiv(V, BV)
    i = part * BV + tl.arange(0, BV)
    total = tl.sum(tl.load(x + row * V + i, mask=i < V, other=0.0))
    tl.store(out + row, total, mask={mask})


def run(x, out, T, V, BV):
    row_sums[(triton.cdiv(V, BV) * T,)](x, out, T, V, BV)
"""


def test_blocks_whose_programs_store_one_element_are_one() -> None:
    kernel = assert_verified(ROW_SUMS.format(mask="row < T"))
    assert any(note.basis == "assumed" and "is 1: programs store no elements" in note.text for note in kernel.notes)


@pytest.mark.parametrize("mask", ["part * BV < V - 1", "part < T"])
def test_blocks_of_which_a_mask_chooses_some_may_be_several(mask: str) -> None:
    assert lifted(ROW_SUMS.format(mask=mask)).source is None


def test_blocks_that_one_program_goes_through_may_be_several() -> None:
    loop = "row = tl.program_id(0)\n    for part in range(tl.cdiv(V, BV)):\n        i"
    text = ROW_SUMS.format(mask="row < T").replace("triton.cdiv(V, BV) * T", "T")
    begin, end = text.index("part, row"), text.index(" = part * BV") - 1
    text = text[:begin] + loop + text[end + 1 :]
    text = text.replace("    total =", "        total =").replace("    tl.store", "        tl.store")
    assert "one element" in (lifted(text).reason or "")
