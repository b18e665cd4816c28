"""Points of parallel loops whose memory other statements touch: one program takes them one after another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree, compiled, device_text

pytestmark = pytest.mark.gpu

KERNEL = """
@intent.kernel
def k(x: I.In[I.i32, ("N",)], at: I.In[I.i32, ("N",)], a: I.InOut[I.i32, ("N",)], m: I.InOut[I.i32, ("R", "N")]):
    R, N = m.shape
    rows, n = I.domain(0, R), I.domain(0, N)
    i, j = I.indices(n), I.indices(rows)
    p = I.cast(at[n], I.index)
{body}
"""
BODIES = {
    "a loop over elements, then one element": """
        for r in I.parallel(rows):
            for t in range(0, N):
                m[r, t] = m[r, t] + x[t]
        m[R - 1, N - 1] += m[0, 0]
    """,
    "one row before": """
        a[n] = m[0, n]
        for r in I.parallel(rows):
            for t in range(0, 2):
                m[r, n] += m[r, N - 1 - i]
    """,
    "rows reversed afterwards": """
        for r in I.parallel(rows):
            for t in range(0, R):
                m[r, p] = m[r, n] - I.cast(t, I.i32)
        m[R - 1 - j, n] = x[n] * 2 + m[rows, n]
    """,
    "a while loop with a condition in memory": """
        a[n] = m[R - 1, N - 1 - i] + m[0, n]
        for r in I.parallel(rows):
            t = I.cast(0, I.i32)
            while t < 3 and m[r, 0] < 40:
                m[r, n] = m[r, N - 1 - i] + m[r, n] + 1
                t = t + 1
        a[n] = a[n] + m[0, p]
    """,
    "what loops leave is used by later statements of their point": """
        m[0, n] = m[R - 1, p]
        for r in I.parallel(rows):
            total = I.cast(0, I.i32)
            for t in range(0, N):
                total = total + m[r, t]
                m[r, t] = total
            m[r, n] = m[r, n] - total * m[r, 0]
            best = I.reduce.max(m[r, n], axis=0)
            for t in range(1, N):
                m[r, N - 1 - t] = m[r, N - t] + best
    """,
    "a buffer of each point": """
        m[0, p] = x[n]
        for r in I.parallel(rows):
            row = I.buffer((N,), I.i32, init=m[r, N - 1 - i])
            for t in range(1, N):
                row[t] = row[t] - row[t - 1]
            m[r, n] = row[n]
        a[n] = m[R - 1, n] - m[0, N - 1 - i]
    """,
    "points of two variables": """
        a[n] = m[0, p]
        for r, c in I.parallel((rows, n)):
            for t in range(0, 3):
                m[r, c] = m[r, c] * 2 + I.cast(t, I.i32)
        a[n] += m[R - 1, N - 1 - i]
    """,
    "points within points, and around a loop": """
        a[n] = m[R - 1, p]
        for s in range(0, 2):
            for r in I.parallel(rows):
                for t in range(0, 2):
                    for c in I.parallel(n):
                        m[r, c] = m[r, c] + x[c] * I.cast(s + t, I.i32)
                if m[r, 0] > 4:
                    for t in range(1, N):
                        m[r, t] -= m[r, t - 1]
            a[n] = a[n] + m[0, N - 1 - i]
    """,
}  # fmt: skip


def _text(name: str) -> str:
    return KERNEL.format(body="\n".join(line[4:] for line in BODIES[name].splitlines()))


def _arguments(rows: int, columns: int) -> dict[str, object]:
    random = np.random.default_rng(rows * 100 + columns)

    def numbers(*shape: int) -> np.ndarray:
        return random.integers(-9, 30, shape).astype(np.int32)

    matrix = np.zeros((rows, 2 * columns + 1), np.int32)[:, : 2 * columns : 2]
    matrix[...] = numbers(rows, columns)
    at = random.permutation(columns).astype(np.int32)
    return {"x": numbers(columns), "at": at, "a": numbers(columns), "m": matrix}


@pytest.mark.parametrize("name", BODIES)
def test_points_with_loops(name: str) -> None:
    for rows, columns in ((3, 19), (2, 1), (1, 8)):
        agree(_text(name), _arguments(rows, columns))
    agree(_text(name), _arguments(3, 7), small=False)


def test_they_compile(tmp_path: Path) -> None:
    names = ["a while loop with a condition in memory", "points within points, and around a loop"]
    assert problems(map(_text, names), tmp_path) == []


def test_a_note_names_the_points() -> None:
    notes = [each.message for each in compiled(_text("one row before")).diagnostics if each.code == "INT953"]
    assert any("the points of r run in one program" in note for note in notes), notes


def test_points_that_nothing_else_touches_keep_their_programs() -> None:
    body = "    for r in I.parallel(rows):\n        for t in range(1, N):\n            m[r, t] += m[r, t - 1]"
    assert "tl.program_id" in device_text(KERNEL.format(body=body))


TWO_DIRECTIONS = """
@intent.kernel
def k(x: I.In[I.i32, ("R", "N")], at: I.In[I.i32, ("N",)], m: I.InOut[I.i32, ("R", "N")]):
    n = I.domain(0, m.shape[1])
    p = I.cast(at[n], I.index)
    for r in I.parallel(I.domain(0, m.shape[0])):
        m[r, n] = x[r, n] + m[r, n]
        m[r, p] = I.cumsum(m[r, p], axis=0) * I.cumsum(m[r, n], axis=0, reverse=True)
"""


def test_scans_in_both_directions_of_memory_that_is_rewritten() -> None:
    for rows, columns in ((3, 19), (1, 1), (2, 8)):
        given = _arguments(rows, columns)
        x = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
        agree(TWO_DIRECTIONS, {"x": x, "at": given["at"], "m": given["m"]})


NOTHING = """
@intent.kernel
def k(x: I.In[I.i32, ("N",)], o: I.InOut[I.i32, ("N",)]):
    largest = I.reduce.max(x[:], axis=0)
"""


@pytest.mark.parametrize("size", [5, 0])
def test_a_kernel_without_an_effect_changes_nothing(size: int) -> None:
    x = np.arange(size, dtype=np.int32)
    agree(NOTHING, {"x": x, "o": x + 1})
