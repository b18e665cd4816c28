"""Coordinates that several axes share, and axes that stand in several coordinates, as subscripts."""

from __future__ import annotations

import pytest

from intentc.lift_verification import verify
from translators.lifting.files import source_of
from translators.lifting.launches import launches
from translators.lifting.lift import Lifted, lift_kernel
from translators.triton_source.read.source import read_file

TEXT = '''
import triton
import triton.language as tl


@triton.jit
def flat(x, scale, out, outer, inner, stride, A: tl.constexpr, B: tl.constexpr):
    """A sum over two axes of a flat array, whose rows lie `stride` apart and may overlap."""
    row = tl.program_id(0)
    a = tl.arange(0, A)[:, None]
    b = tl.arange(0, B)[None, :]
    inside = (a < outer) & (b < inner)
    value = tl.load(x + row * inner + a * stride * inner + b, mask=inside, other=0.0)
    weight = tl.load(scale + tl.arange(0, A), mask=tl.arange(0, A) < outer, other=0.0)
    tl.store(out + row, tl.sum(value * weight[:, None]))


@triton.jit
def diagonal(x, out, n, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + i * stride + i, mask=i < n, other=0.0)))


@triton.jit
def products(x, at, out, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    """Rows and columns that are both read from memory: every row with every column."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    row = tl.load(at + i, mask=i < rows, other=0)
    column = tl.load(at + j, mask=j < columns, other=0)
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    value = tl.load(x + row[:, None] * stride + column[None, :], mask=inside, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(value * (i[:, None] + 2 * j[None, :])))
'''
NAMES = ("flat", "diagonal", "products")


def lifted(name: str) -> Lifted:
    file = read_file(TEXT, "places.py")
    return lift_kernel(file, next(each for each in file.kernels if each.name == name), launches(file).get(name))


@pytest.mark.parametrize("name", NAMES)
def test_places(name: str) -> None:
    kernel = lifted(name)
    assert kernel.source is not None, kernel.reason
    found = verify(TEXT, "places.py", kernel, 3)
    assert found.holds, str(found)


def test_tensors_of_integers_are_aligned() -> None:
    kernel = lifted("products")
    made = source_of((kernel,), "places.py")
    assert made is not None
    assert "[:, None]" in made


SPLIT = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, weight, weighted, plain, size, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    value = tl.sum(tl.load(x + pid * n + i, mask=i < n, other=0.0))
    tl.store(weighted + pid, value * tl.load(weight + pid // size))
    tl.store(plain + pid, value)
"""


def test_numbers_of_programs_that_are_split_are_one_size() -> None:
    """Arrays with an element for each program, told apart by groups in one place and not in another."""
    file = read_file(SPLIT, "split.py")
    kernel = lift_kernel(file, file.kernels[0])
    assert kernel.correspondence is not None
    assert "programs_0" in kernel.correspondence.extents
    found = verify(SPLIT, "split.py", kernel, 3)
    assert found.holds, str(found)


PEELED = """
import triton
import triton.language as tl


@triton.jit
def kernel(x, weight, out, size, stride, step, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    whole = tl.cdiv(size, BLOCK) * BLOCK - BLOCK
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, whole, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + i * step) * tl.load(weight + i)
    i = whole + tl.arange(0, BLOCK)
    inside = i < size
    total += tl.load(x + row * stride + i * step, mask=inside, other=0.0) * tl.load(weight + i, mask=inside, other=0.0)
    tl.store(out + row, tl.sum(total))


def call(x, weight, out):
    kernel[(x.shape[0],)](x, weight, out, x.shape[1], x.stride(0), x.stride(1), BLOCK=16)
"""


def test_the_last_block_is_told_from_the_end_and_is_no_row_before_the_first() -> None:
    """It begins at so many blocks less one: no array has a row -1."""
    file = read_file(PEELED, "peeled.py")
    kernel = lift_kernel(file, file.kernels[0], launches(file).get("kernel"))
    assert kernel.source is not None, kernel.reason
    made = source_of((kernel,), "peeled.py")
    assert made is not None
    assert "-1," not in made
    found = verify(PEELED, "peeled.py", kernel, 4)
    assert found.holds, str(found)
