"""Conditions that are known: inside a loop that all lanes leave together, and of memory that is read anyway."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, device_text

pytestmark = pytest.mark.gpu

COLLATZ = """
@intent.kernel
def k(x: I.In[I.i64, ("N",)], steps: I.Out[I.i64, ("N",)], v: I.InOut[I.f32, ("M",)]):
    m = I.domain(0, v.shape[0])
    length = I.cast(0, I.i64)
    n = x[0]
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        length = length + 1
        if length > 2:
            v[m] = v[m] + 1.0
    for i in I.parallel(I.domain(0, x.shape[0])):
        steps[i] = length
"""
LANES = """
@intent.kernel
def k(x: I.In[I.i64, ("N",)], steps: I.Out[I.i64, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        n = x[i]
        length = I.cast(0, I.i64)
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            length = length + 1
            if length > 7:
                break
        steps[i] = length
"""
NESTED = """
@intent.kernel
def k(limit: I.i32, x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)]):
    n = I.domain(0, x.shape[0])
    v = x[n]
    outer = I.cast(0, I.i32)
    while outer < limit:
        inner = outer
        while inner > 0:
            v = v * 0.5 + 1.0
            inner = inner - 1
        outer = outer + 1
    out[n] = v
"""
SKIPPED = """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], out: I.Out[I.f32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        if at[i] < 0:
            out[i] = 0.0
        else:
            out[i] = x[I.cast(at[i], I.index)] * 2.0
"""


def test_a_loop_of_all_lanes_selects_nothing() -> None:
    for text in (COLLATZ, NESTED):
        written = device_text(text)
        assert "while active" in written and "tl.where(active" not in written and "& active" not in written
    assert "active" in device_text(LANES).split("while", 1)[1].split(":", 1)[1]


def test_loops_give_what_the_reference_does() -> None:
    x = np.array([27, 1, 8, 3, 0, 97], np.int64)
    agree(LANES, {"x": x, "steps": np.empty(6, np.int64)})
    for first in (27, 1, 8, 0):
        x[0] = first
        v = np.arange(5, dtype=np.float32)
        agree(COLLATZ, {"x": x, "steps": np.empty(6, np.int64), "v": v})
    for limit in (0, 1, 4):
        values = {"limit": limit, "x": np.arange(37, dtype=np.float32), "out": np.empty(37, np.float32)}
        agree(NESTED, values, tolerance=1e-6)


def test_memory_that_a_condition_reads_is_read_once() -> None:
    assert device_text(SKIPPED).count("tl.load(at") == 1
    at = np.array([3, -1, 0, 2, -5], np.int32)
    agree(SKIPPED, {"x": np.arange(5, dtype=np.float32), "at": at, "out": np.empty(5, np.float32)})


NEGATED = """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], s: I.i64, o: I.Out[I.bool, ("N",)]):
    for n in I.parallel(I.domain(0, x.shape[0])):
        o[n] = not ((x[n] > 0.5) | (1 <= s < 9))
"""


@pytest.mark.parametrize("scalar", [0, 5, 9])
def test_a_condition_of_floats_beside_one_of_scalars_is_negated(scalar: int) -> None:
    x = np.array([1.0, 0.0, np.nan], np.float32)
    agree(NEGATED, {"x": x, "s": scalar, "o": np.zeros(3, bool)})
