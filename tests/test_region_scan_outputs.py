"""Outputs of a region scan at other positions than their own: kept in scratch memory, and the reference's values."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree

pytestmark = pytest.mark.gpu

HELPERS = """
@intent.fn
def total(v):
    return I.reduce.sum(v, axis=0)

@intent.fn
def add(a, b):
    return a + b

@intent.fn
def prefixes(v, before):
    return I.record(sums=I.cumsum(v, axis=0) + before, doubled=v * 2.0)

@intent.fn
def rows(v, before):
    return I.cumsum(v, axis=0) + before[None, :]

"""
VECTOR = (
    HELPERS
    + """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], o: I.Out[I.f32, ("M",)], u: I.Out[I.f32, ("M", "N")], w: I.Out[I.f32, ("N", "M")]):
    n = I.domain(0, x.shape[1])
    zero = I.cast(0.0, I.f32)
    for m in I.parallel(I.domain(0, x.shape[0])):
        out, last = I.region_scan(
            source=x[m, n], axis=0, summarize=total, combine=add, identity=zero, initial_state=zero, apply=add,
            emit=prefixes,
        )
        o[m] = I.reduce.max(out.sums, axis=0) + last
        u[m, n] = out.sums - out.doubled[x.shape[1] - 1 - I.indices(n)]
        w[n, m] = out.doubled
"""
)
MATRIX = (
    HELPERS
    + """
@intent.kernel
def k(x: I.In[I.f32, ("N", 3)], o: I.Out[I.f32, (3, "N")], q: I.Out[I.f32, ("N", 3)]):
    n, c = I.domain(0, x.shape[0]), I.domain(0, 3)
    zero = I.zeros((3,), I.f32)
    out, last = I.region_scan(
        source=x[n, c], axis=0, summarize=total, combine=add, identity=zero, initial_state=zero, apply=add, emit=rows
    )
    o[c, n] = I.transpose(out)
    q[n, c] = out[x.shape[0] - 1 - I.indices(n), :] - last[None, :]
"""
)


@pytest.mark.parametrize("size", [19, 1, 0, 70])
def test_reduced_reversed_and_transposed(size: int) -> None:
    x = np.random.default_rng(size).standard_normal((3, size)).astype(np.float32)
    if size == 0:
        x = np.zeros((0, 4), np.float32)  # a maximum of nothing has no place in a sum
    rows, columns = x.shape
    outputs = {name: np.zeros(shape, np.float32) for name, shape in
               (("o", (rows,)), ("u", (rows, columns)), ("w", (columns, rows)))}  # fmt: skip
    agree(VECTOR, {"x": x, **outputs}, small=size != 70, tolerance=1e-5)


@pytest.mark.parametrize("size", [19, 1, 0, 70])
def test_rows(size: int) -> None:
    x = np.random.default_rng(size).standard_normal((size, 3)).astype(np.float32)
    outputs = {"o": np.zeros((3, size), np.float32), "q": np.zeros((size, 3), np.float32)}
    agree(MATRIX, {"x": x, **outputs}, small=size != 70, tolerance=1e-5)


UPDATED = (
    HELPERS
    + """
@intent.fn
def places(v, before):
    return I.cumsum(v, axis=0) + before - 1

@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], z: I.InOut[I.i32, ("K",)], y: I.Out[I.i32, ("M", "N")], w: I.Out[I.i32, ("M",)]):
    zero = I.cast(0, I.i32)
    for row in range(x.shape[0]):
        at, _ = I.region_scan(
            source=x[row, :], axis=0, summarize=total, combine=add, identity=zero, initial_state=zero, apply=add,
            emit=places,
        )
        old = I.atomic.add(z, (at,), 5, order="relaxed")
        y[row, :] = old
        w[row] = I.reduce.sum(old, axis=0)
"""
)


@pytest.mark.parametrize("size", [19, 1, 0])
def test_old_values_of_an_update_along_an_output(size: int) -> None:
    """They are kept where the scan's loop issues the update, and read after it."""
    x = np.ones((3, size), np.int32)  # distinct places in every row
    z = np.arange(max(size, 1), dtype=np.int32)
    agree(UPDATED, {"x": x, "z": z, "y": np.zeros_like(x), "w": np.zeros(3, np.int32)})
