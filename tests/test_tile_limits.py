"""No variant has a tile that a program cannot hold: several axes that are on chip at once, in one tile."""

from __future__ import annotations

import math

import numpy as np
import pytest
from program_runs import agree, compiled

from translators.planning.tile_limits import HELD_TILE

STATE = """
    @intent.kernel
    def state(x: I.In[I.f32, ("T", "A")], w: I.In[I.f32, ("A", "B", "C")], y: I.Out[I.f32, ("A", "B", "C")]):
        a, b, c = I.domain(0, x.shape[1]), I.domain(0, w.shape[1]), I.domain(0, w.shape[2])
        held = w[a, b, c]
        for t in range(x.shape[0]):
            rows, columns = I.reduce.sum(held, axis=2), I.reduce.sum(held, axis=(0, 1))
            held = held + rows[:, :, None] * 0.5 + columns[None, None, :] * x[t, a][:, None, None]
        y[a, b, c] = held
    """
GROUPS = """
    @intent.kernel
    def groups(q: I.In[I.f32, ("M", "S", "D")], k: I.In[I.f32, ("M", "T", "D")], y: I.Out[I.f32, ("M", "S")]):
        M, S, D = q.shape
        T = k.shape[1]
        s, d, member = I.domain(0, S), I.domain(0, D), I.domain(0, {size})
        group = I.domain(0, (T + {size} - 1) // {size})
        at = {size} * I.indices(group)[:, None] + I.indices(member)[None, :]
        for m in I.parallel(I.domain(0, M)):
            keys = I.gather(k, (m, at, d), valid=(at < T)[:, :, None], fill=0.0)
            scores = I.contract(q[m, s, d], keys, reduce=((1, 2),), acc_dtype=I.f32)
            largest = I.reduce.max(scores, axis=(1, 2))
            y[m, s] = I.reduce.sum(I.exp(scores - largest[:, None, None]), axis=(1, 2))
    """


@pytest.mark.parametrize("text", [STATE, *(GROUPS.replace("{size}", size) for size in ("16", "64", "256"))])
def test_what_is_on_chip_at_once_fits(text: str) -> None:
    """The blocks of each of these kernels, but for these two, are the axes of one tile."""
    variants = compiled(text).codes[0].variants
    on_chip = [[size for name, size in each.constants if name not in ("BLOCK_D", "BLOCK_S")] for each in variants]
    assert all(math.prod(sizes) <= HELD_TILE for sizes in on_chip), on_chip
    assert variants[-1].condition is None


@pytest.mark.parametrize("sizes", [(3, 5, 4, 6), (2, 33, 3, 2), (0, 2, 2, 2)])
def test_states_of_three_axes(sizes: tuple[int, int, int, int]) -> None:
    steps, a, b, c = sizes
    generator = np.random.default_rng(steps)
    x, w = (generator.integers(-2, 3, shape).astype(np.float32) for shape in ((steps, a), (a, b, c)))
    agree(STATE, {"x": x, "w": w, "y": np.zeros((a, b, c), np.float32)}, small=False, tolerance=1e-6)


@pytest.mark.parametrize("keys", [1, 70, 200])
def test_products_of_groups(keys: int) -> None:
    generator = np.random.default_rng(keys)
    q, k = (generator.standard_normal((2, rows, 20)).astype(np.float32) for rows in (17, keys))
    text = GROUPS.replace("{size}", "64")
    agree(text, {"q": q, "k": k, "y": np.zeros((2, 17), np.float32)}, small=False, tolerance=1e-5)
