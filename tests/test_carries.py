"""What a loop carries: each update reads the values of the iteration's beginning, whatever moves on first."""

from __future__ import annotations

from itertools import permutations
from textwrap import indent

import numpy as np
import pytest
from program_runs import agree

pytestmark = pytest.mark.gpu

HEAD = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)], top: I.Out[I.f32, ("M",)]):
    m = I.domain(0, x.shape[0])
"""
# The new maximum has a name, and the old one is read where the other carry is updated.
RISES = (
    HEAD
    + """
    {first} = I.full((m,), 0.0, dtype=I.f32)
    {second} = I.full((m,), 0.0, dtype=I.f32)
    for j in I.domain(0, x.shape[1]):
        new = I.maximum(largest, x[m, j])
        {updates[0]}
        {updates[1]}
    out[m] = risen
    top[m] = largest
"""
)
UPDATES = ("risen = risen + (new - largest)", "largest = new")
# The new value does not change in the loop.
LAST = (
    HEAD
    + """
    first = I.full((m,), 1.0, dtype=I.f32)
    steps = I.full((m,), 0.0, dtype=I.f32)
    scale = x[m, 0] * 3.0
    for j in I.domain(0, x.shape[1]):
        steps = steps + (scale - first)
        first = scale
    out[m] = steps
    top[m] = first
"""
)


def _arguments(rows: int, columns: int) -> dict[str, object]:
    x = np.random.default_rng(5).normal(size=(rows, columns)).astype(np.float32) + np.arange(columns, dtype=np.float32)
    return {"x": x, "out": np.empty(rows, np.float32), "top": np.empty(rows, np.float32)}


@pytest.mark.parametrize("sizes", [(3, 7), (300, 2), (1, 1), (2, 0)])
@pytest.mark.parametrize("carries", list(permutations(("risen", "largest"))))
def test_the_old_value_of_a_carry_with_a_named_update(carries: tuple[str, str], sizes: tuple[int, int]) -> None:
    text = RISES.format(first=carries[0], second=carries[1], updates=UPDATES)
    agree(text, _arguments(*sizes), tolerance=1e-5)


@pytest.mark.parametrize("sizes", [(3, 7), (300, 2), (1, 1)])
def test_the_old_value_of_a_carry_with_an_invariant_update(sizes: tuple[int, int]) -> None:
    agree(LAST, _arguments(*sizes), tolerance=1e-5)


# Only the bounds of the reduction say that it differs between iterations.
BLOCKS = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)], top: I.Out[I.f32, ("M",)]):
    M, N = x.shape
    for m in I.parallel(I.domain(0, M)):
        largest = I.cast(-I.inf, I.f32)
        rises = I.cast(0.0, I.f32)
        for block in range((N + 2) // 3):
            members = I.domain(3 * block, I.minimum(N, 3 * block + 3))
            here = I.reduce.max(x[m, members], axis=0)
            rises = I.select(here > largest, rises + 1.0, rises)
            largest = I.maximum(here, largest)
        out[m] = rises
        top[m] = largest
"""


@pytest.mark.parametrize("sizes", [(3, 7), (40, 3), (2, 1), (2, 0)])
def test_a_reduction_over_a_block_of_its_iteration(sizes: tuple[int, int]) -> None:
    agree(BLOCKS, _arguments(*sizes))


# --------------------------------------------------------------------------------------------------- several carries
LOOP = """
@intent.kernel
def lagged(x: I.In[I.f64, ("W", "H")], out: I.InOut[I.f64, ("W", "H")], last: I.Out[I.f64, ("W", 3)]):
    W, H = x.shape
    for i in I.parallel(I.domain(0, W)):
        a = I.cast(0.0, I.f64)
        b = I.cast(1.0, I.f64)
        c = I.cast(2.0, I.f64)
        for j in range(H):
{body}
        last[i, 0] = a
        last[i, 1] = b
        last[i, 2] = c
"""
BODIES = {
    "stored": "a, b = x[i, j] + a - b, a\nout[i, j] = a",
    "all stored": "a, b, c = x[i, j] + c, a * 0.5, b - a\nout[i, j] = a + b * 2.0 + c * 4.0",
    "swapped": "a, b = b, a\nout[i, j] = a - b",
    "in a ring": "a, b, c = c, a, b\nout[i, j] += a",
    "reads": "now = x[i, j]\nout[i, j] = now - a - b\na, b, c = now, a, b",
    "of the loop": "a, b = I.cast(j, I.f64), a\nout[i, j] = a + x[i, j]",
    "from outside": "a, b = x[i, 0], a\nout[i, j] = x[i, 0] + b",
    "in a condition": "if x[i, j] > 0.0:\n    a, b = x[i, j], a\nout[i, j] = a * b",
}
VECTORS = """
@intent.kernel
def rows(x: I.In[I.f64, ("W", "H")], out: I.Out[I.f64, ("W", "H")]):
    W, H = x.shape
    h = I.domain(0, H)
    a = I.zeros((h,), I.f64)
    b = I.zeros((h,), I.f64)
    for i in range(W):
        a, b = x[i, h] + a - 0.5 * b, a
        out[i, h] = a
"""


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_carries_move_on_together(body: str) -> None:
    rng = np.random.default_rng(0)
    x, out = rng.integers(-8, 8, (2, 21, 5)).astype(np.float64)
    text = LOOP.format(body=indent(body, " " * 12))
    for small in (False, True):
        agree(text, {"x": x, "out": out, "last": np.empty((21, 3))}, small=small)


def test_vectors_move_on_together() -> None:
    x = np.random.default_rng(0).integers(-8, 8, (4, 21)).astype(np.float64)
    agree(VECTORS, {"x": x, "out": np.empty_like(x)})
