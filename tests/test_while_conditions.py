"""Conditions of while loops that reduce, read memory that the loop writes, or call helpers with loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree

pytestmark = pytest.mark.gpu

KERNEL = """
@intent.fn
def steps(v, limit):
    total = I.cast(0, I.i32)
    for s in range(0, 3):
        total = total + v * I.cast(s, I.i32)
    return total < limit


@intent.kernel
def k(x: I.In[I.i32, ("N",)], y: I.In[I.i32, ("R", "N")], a: I.InOut[I.i32, ("N",)], m: I.InOut[I.i32, ("R", "N")],
      o: I.InOut[I.i32, ("R",)]):
    R, N = m.shape
    rows, n = I.domain(0, R), I.domain(0, N)
    i = I.indices(n)
{body}
"""
BODIES = {
    "largest of a long row": """
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while I.reduce.max(y[r, n] * 2 - t * x[n], axis=0) > 20 and t < 9:
                t = t + 1
            o[r] = t
    """,
    "any of a long row": """
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while I.reduce.any(y[r, n] > t * 3, axis=0):
                t = t + 1
            o[r] = t
    """,
    "a sum over everything": """
        t = I.cast(0, I.i32)
        while I.reduce.sum(I.abs(y[rows, n]) + 1, axis=(0, 1)) * t < 1000 and t < 40:
            t = t + 3
        o[rows] = t
    """,
    "a row that the loop writes": """
        for r in I.parallel(rows):
            while I.reduce.max(m[r, n], axis=0) > 5:
                m[r, n] = m[r, N - 1 - i] // 2
    """,
    "elements that the loop writes": """
        t = I.cast(0, I.i32)
        while a[0] + a[N - 1] < 90 and t < 12:
            a[n] = a[N - 1 - i] + I.abs(x[n]) + 1
            t = t + 1
        o[rows] = t
    """,
    "used in the body, too": """
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while I.reduce.sum(m[r, n], axis=0) < 300 and t < 9:
                m[r, n] = m[r, n] + I.reduce.sum(m[r, n], axis=0) + 7
                t = t + 1
            o[r] = t
    """,
    "a helper with a loop": """
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while steps(t + I.abs(m[r, 0]), 60):
                t = t + 1
                m[r, 0] = m[r, N - 1] - t
            o[r] = t
    """,
    "a largest that leaves early": """
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while I.reduce.max(y[r, n] + t, axis=0) < 60:
                t = t + 5
                if y[r, 0] > 10:
                    break
            o[r] = t
    """,
    "an inner loop with its own": """
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while I.reduce.max(m[r, n], axis=0) > 3 and t < 20:
                u = I.cast(0, I.i32)
                while m[r, N - 1] > u:
                    u = u + 4
                    m[r, n] = m[r, n] - 1
                m[r, n] = m[r, n] // 2
                t = t + u + 1
            o[r] = t
    """,
}  # fmt: skip


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-9, 30, shape).astype(np.int32)


def _text(name: str) -> str:
    return KERNEL.format(body="\n".join(line[4:] for line in BODIES[name].splitlines()))


@pytest.mark.parametrize("name", BODIES)
def test_conditions(name: str) -> None:
    text = _text(name)
    for rows, columns in ((3, 19), (2, 1), (9, 37)):
        arguments = {"x": _numbers(columns), "y": _numbers(rows, columns), "a": _numbers(columns)}
        agree(text, {**arguments, "m": _numbers(rows, columns), "o": _numbers(rows)})
    arguments = {"x": _numbers(5), "y": _numbers(3, 5), "a": _numbers(5), "m": _numbers(3, 5), "o": _numbers(3)}
    agree(text, arguments, small=False)


def test_a_test_stands_in_front_of_its_loop_and_in_it(tmp_path: Path) -> None:
    """Names in a test have one type, in the loop as before it."""
    names = ["elements that the loop writes", "a largest that leaves early", "an inner loop with its own"]
    assert problems(map(_text, names), tmp_path) == []
