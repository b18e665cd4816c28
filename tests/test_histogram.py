"""Histograms: tl.histogram for a row of values and a block of bins, sums of matches elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, device_text

pytestmark = pytest.mark.gpu

PLAIN = """
@intent.kernel
def k(v: I.In[I.{dtype}, ("N",)], h: I.Out[I.{count}, ({bins},)]):
    h[:] = I.histogram(v[:], bins=h.shape[0], valid={valid}, count_dtype=I.{count})
"""
ROWS = """
@intent.kernel
def k(v: I.In[I.i32, ("M", "N")], h: I.Out[I.i32, ("M", "B")]):
    b = I.domain(0, h.shape[1])
    for row in I.parallel(I.domain(0, v.shape[0])):
        h[row, b] = I.histogram(v[row, :], bins=h.shape[1], valid=v[row, :] != 3, count_dtype=I.i32)
"""
GROUPS = """
@intent.kernel
def k(v: I.In[I.i32, ("N",)], h: I.Out[I.i32, ("G", "B")]):
    n = I.domain(0, v.shape[0])
    size = (v.shape[0] + h.shape[0] - 1) // h.shape[0]
    for g in I.parallel(I.domain(0, h.shape[0])):
        begin = I.minimum(g * size, v.shape[0])
        end = I.minimum(begin + size, v.shape[0])
        h[g, :] = I.histogram(v[n[begin:end]], bins=h.shape[1], valid=True, count_dtype=I.i32)
"""
IMAGE = """
@intent.kernel
def k(v: I.In[I.u8, ("M", "N")], h: I.Out[I.i64, (256,)]):
    h[:] = I.histogram(v[:, :], bins=256, valid=v[:, :] > 1, count_dtype=I.i64)
"""
USED = """
@intent.kernel
def k(v: I.In[I.i32, ("N",)], most: I.Out[I.i32, ()], total: I.Out[I.i32, ("B",)], one: I.Out[I.i32, ()]):
    h = I.histogram(v[:], bins=total.shape[0], valid=True, count_dtype=I.i32)
    most[()] = I.reduce.max(h, axis=0)
    total[:] = I.cumsum(h, axis=0)
    one[()] = h[2]
"""
GATHERED = """
@intent.kernel
def k(v: I.In[I.i32, ("N",)], at: I.In[I.i32, ("K",)], o: I.Out[I.i32, ("K",)], B: I.index):
    h = I.histogram(v[:], bins=B, valid=True, count_dtype=I.i32)
    o[:] = h[I.cast(at[:], I.index)]
"""
NUMPY = {name: np.dtype(("int" if name[0] == "i" else "uint") + name[1:]) for name in (
    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"
)} | {"index": np.dtype(np.int64)}  # fmt: skip


def _values(size: int, bins: int, dtype: type | str = np.int32) -> np.ndarray:
    return np.random.default_rng(size + bins).integers(0, max(bins, 1), size).astype(dtype)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(("size", "bins"), [(1, 1), (37, 11), (0, 5), (64, 16), (200, 33), (9, 100)])
def test_sizes(size: int, bins: int, small: bool) -> None:
    text = PLAIN.format(dtype="i32", count="i32", bins='"B"', valid="True")
    agree(text, {"v": _values(size, bins), "h": np.empty(bins, np.int32)}, small=small)


@pytest.mark.parametrize("dtype", NUMPY)
def test_values_of_every_dtype_and_outside_the_bins(dtype: str) -> None:
    """Values that the condition excludes may be anything, also what a narrower integer would take for a bin."""
    numpy = NUMPY[dtype]
    limits = np.iinfo(numpy)
    extremes = np.array([limits.min, limits.max, limits.max - 1, 10, 11, 9, 0, 1, 255 % (limits.max + 1)], numpy)
    v = np.concatenate([extremes, _values(40, 10, numpy)])
    h = np.empty(10, np.int32)
    text = PLAIN.format(dtype=dtype, count="i32", bins='"B"', valid="(v[:] >= 0) & (v[:] < 10)")
    counts = agree(text, {"v": v, "h": h})["h"]
    assert counts.sum() == np.sum((v >= 0) & (v < 10))


@pytest.mark.parametrize("count", NUMPY)
def test_counts_of_every_dtype(count: str) -> None:
    v = np.zeros(300, np.int32)  # more than 8 bits hold
    text = PLAIN.format(dtype="i32", count=count, bins="4", valid="True")
    agree(text, {"v": v, "h": np.empty(4, NUMPY[count])})


@pytest.mark.parametrize("sizes", [(3, 37, 10), (1, 1, 1), (2, 0, 3), (0, 5, 3), (2, 16, 40)])
def test_a_histogram_for_every_row(sizes: tuple[int, int, int]) -> None:
    rows, columns, bins = sizes
    agree(ROWS, {"v": _values(rows * columns, bins).reshape(rows, columns), "h": np.empty((rows, bins), np.int32)})


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("sizes", [(100, 7, 10), (5, 8, 3), (0, 2, 3), (64, 1, 20), (333, 3, 9), (200, 9, 4)])
def test_a_histogram_for_every_group(sizes: tuple[int, int, int], small: bool) -> None:
    """Groups begin and end anywhere: before, at and after multiples of 16, with whole tiles (small ones) or without."""
    size, groups, bins = sizes
    agree(GROUPS, {"v": _values(size, bins), "h": np.empty((groups, bins), np.int32)}, small=small)


@pytest.mark.parametrize("size", [31, 32, 33, 100])
def test_values_in_steps(size: int) -> None:
    """Whole tiles of an array whose elements are no neighbours."""
    text = PLAIN.format(dtype="i32", count="i32", bins='"B"', valid="v[:] != 2")
    agree(text, {"v": _values(3 * size, 9)[::3], "h": np.empty(9, np.int32)}, small=True)


def test_two_axes_of_values() -> None:
    image = _values(7 * 19, 256, np.uint8).reshape(19, 7).T
    agree(IMAGE, {"v": image, "h": np.empty(256, np.int64)})


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("bins", [3, 20, 50])
def test_a_histogram_that_is_used_further(bins: int, small: bool) -> None:
    outputs = {"most": np.empty((), np.int32), "total": np.empty(bins, np.int32), "one": np.empty((), np.int32)}
    agree(USED, {"v": _values(90, bins), **outputs}, small=small)


def test_bins_that_are_picked() -> None:
    at = np.array([4, 0, 6, 6, 2], np.int32)
    agree(GATHERED, {"v": _values(50, 7), "at": at, "o": np.empty(5, np.int32), "B": 7})


def test_the_data_are_read_once() -> None:
    text = device_text(GROUPS)
    loops = text.count("    for start_")
    assert text.count("tl.load") == text.count("_histogram(") == loops == 3


def test_whole_tiles_need_no_guards() -> None:
    """They begin at multiples of 16, which a minimum would hide from Triton."""
    text = device_text(GROUPS)
    whole = text[text.index("in range(whole_begin, whole_end, BLOCK_I)") :].partition("    for start_")[0]
    assert "mask" not in whole and "whole_begin = tl.cdiv(begin, 16) * 16" in text
    head, guarded = text[: text.index("in range(whole_begin")], text[text.index("in range(whole_end") :]
    assert "mask = i < first_end" in head and "mask = i < i_end" in guarded
