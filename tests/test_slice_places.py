"""Helpers of region operations that look at places within a slice, or at its length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree, device_text

HELPERS = """
@intent.fn
def changes(v):
    n = v.shape[0]
    after = I.minimum(I.indices(I.domain(0, n)) + 1, n - 1)
    inside = I.reduce.sum(I.cast(v != v[after], I.i32), axis=0)
    return I.record(first=v[0], last=v[n - 1], changes=inside, some=True)


@intent.fn
def joined(a, b):
    between = I.cast(a.some & b.some & (a.last != b.first), I.i32)
    return I.record(
        first=I.select(a.some, a.first, b.first), last=I.select(b.some, b.last, a.last),
        changes=a.changes + b.changes + between, some=a.some | b.some,
    )


@intent.fn
def highest(v):
    top, at = I.arg_reduce.max(v, axis=0)
    return I.record(top=top, at=at, length=v.shape[0])


@intent.fn
def higher(a, b):
    later = b.top > a.top
    return I.record(
        top=I.maximum(a.top, b.top), at=I.select(later, a.length + b.at, a.at), length=a.length + b.length
    )


@intent.fn
def last_of(v):
    return I.record(last=v[:, -1])


@intent.fn
def later(a, b):
    return I.record(last=b.last)


@intent.fn
def before_it(b, a):
    return I.record(last=b.last)


@intent.fn
def differences(v, state):
    at = I.indices(I.domain(0, v.shape[1]))
    before = I.select((at == 0)[None, :], state.last[:, None], v[:, I.maximum(at - 1, 0)])
    return I.record(steps=v - before, before=before)
"""
CHANGES = (
    HELPERS
    + """
@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    M, N = x.shape
    for p in I.parallel(I.domain(0, M)):
        found = I.region_fold(
            source=x[p, :], axis=0, summarize=changes, combine=joined,
            identity=I.record(first=0, last=0, changes=0, some=False),
        )
        y[p] = found.changes
"""
)
HIGHEST = (
    HELPERS
    + """
@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.index, ("M",)]):
    M, N = x.shape
    none = I.record(top=-1000, at=I.cast(0, I.index), length=I.cast(0, I.index))
    for p in I.parallel(I.domain(0, M)):
        found = I.region_fold(source=x[p, :], axis=0, summarize=highest, combine=higher, identity=none)
        y[p] = found.at + found.length
"""
)
DIFFERENCES = (
    HELPERS
    + """
@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")], z: I.Out[I.i32, ("N", "M")], w: I.Out[I.i32, ("M",)]):
    M, N = x.shape
    m, n = I.domain(0, M), I.domain(0, N)
    none = I.record(last=I.full((M,), 0, dtype=I.i32))
    found, state = I.region_scan(
        source=x[m, n], axis=1, summarize=last_of, combine=later, identity=none, initial_state=none,
        apply=before_it, emit=differences,
    )
    y[m, n] = found.steps
    z[n, m] = I.transpose(found.before, (1, 0))
    w[m] = state.last
"""
)
PICKED = HELPERS + """
@intent.fn
def named(v, names):
    top, at = I.arg_reduce.max(v, axis=0)
    return I.record(top=top, name=names[at])


@intent.fn
def better(a, b):
    return I.record(top=I.maximum(a.top, b.top), name=I.select(b.top > a.top, b.name, a.name))


@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    M, N = x.shape
    n = I.domain(0, N)
    for p in I.parallel(I.domain(0, M)):
        found = I.region_fold(
            source=(x[p, n], I.cast(I.indices(n), I.i32) * 3), axis=0, summarize=named, combine=better,
            identity=I.record(top=-1000, name=0),
        )
        y[p] = found.name
"""  # fmt: skip
PAIRS = """
@intent.fn
def pairs(v):
    rest = I.cumsum(v, axis=0, inclusive=False, reverse={reverse})
    return I.record(total=I.reduce.sum(v, axis=0), products=I.reduce.sum(v * rest, axis=0))


@intent.fn
def joined(a, b):
    return I.record(total=a.total + b.total, products=a.products + b.products + a.total * b.total)


@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M",)]):
    M, N = x.shape
    for p in I.parallel(I.domain(0, M)):
        found = I.region_fold(
            source=x[p, :], axis=0, summarize=pairs, combine=joined, identity=I.record(total=0, products=0)
        )
        y[p] = found.products
"""
TEXTS = {
    "exclusive sums": PAIRS.format(reverse=False),
    "exclusive sums from the end": PAIRS.format(reverse=True),
    "changes": CHANGES,
    "the place of the highest": HIGHEST,
    "differences": DIFFERENCES,
    "a name": PICKED,
}


def _given(text: str, rows: int, columns: int) -> dict[str, np.ndarray]:
    given = {"x": np.random.default_rng(columns).integers(-3, 9, (rows, columns)).astype(np.int32)}
    if text is DIFFERENCES:
        return given | {
            "y": np.zeros((rows, columns), np.int32), "z": np.zeros((columns, rows), np.int32),
            "w": np.zeros(rows, np.int32),
        }  # fmt: skip
    return given | {"y": np.zeros(rows, np.int64 if text is HIGHEST else np.int32)}


@pytest.mark.parametrize("name", TEXTS)
def test_slices_are_as_good_as_others(name: str) -> None:
    text = TEXTS[name]
    for rows, columns in ((3, 37), (1, 1), (2, 0), (0, 4), (4, 8)):
        agree(text, _given(text, rows, columns), small=columns != 8)


def test_what_is_found_beside_the_highest_needs_no_single_elements() -> None:
    assert "BLOCK_N" in device_text(PICKED)
    assert "BLOCK_N" not in device_text(HIGHEST)


def test_they_compile(tmp_path: Path) -> None:
    assert problems(TEXTS.values(), tmp_path) == []
