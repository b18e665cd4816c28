"""Carries of loops that read and write memory: long ones are in memory themselves; some are no carries at all."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree, device_text

pytestmark = pytest.mark.gpu

KERNEL = """
@intent.kernel
def k(x: I.In[I.i32, ("N",)], a: I.InOut[I.i32, ("N",)], b: I.InOut[I.i32, ("N",)], m: I.InOut[I.i32, ("R", "N")]):
    R, N = m.shape
    rows, n = I.domain(0, R), I.domain(0, N)
    i = I.indices(n)
{body}
"""
BODIES = {
    "a carry along the row that the loop writes": """
        c = x[n]
        for t in range(0, R):
            b[n] += c
            c = b[N - 1 - i] - c
        a[n] = c
    """,
    "two that exchange": """
        c, d = x[n], a[n]
        for t in range(0, 3):
            b[n] = b[N - 1 - i] + c
            c, d = d, c + b[n]
        a[n] = c - d * 2
    """,
    "left early": """
        c = x[n]
        for t in range(0, 5):
            b[n] = b[N - 1 - i] + c
            c = b[n] - c
            if b[0] > 20:
                break
        a[n] = c + b[N - 1 - i]
    """,
    "in a while loop, with a count": """
        c = x[n]
        count = I.cast(0, I.i32)
        while count < 4 and b[N - 1] < 90:
            b[n] = b[N - 1 - i] + I.abs(c)
            c = c - b[n]
            count = count + 1
        a[n] = c + count
    """,
    "of every point": """
        a[n] = m[0, N - 1 - i]
        for r in I.parallel(rows):
            c = m[r, n]
            for t in range(0, 2):
                m[r, n] = m[r, N - 1 - i] + c
                c = c - m[r, n] * x[n]
            m[r, n] = m[r, n] + c
        a[n] += m[R - 1, N - 1 - i]
    """,
    "nested": """
        c = x[n]
        for t in range(0, 2):
            for s in range(0, 2):
                b[n] = b[N - 1 - i] - c
                c = c + b[n]
            a[n] = a[N - 1 - i] + c
            c = c - a[n]
        m[0, n] = c
    """,
    "several at their own coordinates": """
        c, d = x[n], a[n]
        for t in range(0, R):
            b[n] = b[N - 1 - i] + c
            a[n] = c * 2 - d
            m[t, n] = d + c
            c, d = c + b[n] * 2, d - c
        a[n] = a[n] + c - d
    """,
    "one kept before another moves on": """
        c, d = x[n], a[n]
        for t in range(0, R):
            b[n] = b[N - 1 - i] + c
            before = m[t, n]
            m[t, n] = before + d
            a[n] = m[t, N - 1 - i] - before
            c, d = d, c + b[n]
        a[n] = a[n] * 2 + c - d
    """,
    "never changed": """
        c = b[n]
        d = x[n]
        for t in range(0, R):
            e = c
            b[n] = b[N - 1 - i] + d
            if b[0] > 3:
                d = d
            c = e
        a[n] = c + d
    """,
    "changed, and of no use": """
        c = x[n]
        for t in range(0, R):
            b[n] = b[N - 1 - i] + x[n]
            c = c + b[N - 1 - i]
    """,
}  # fmt: skip


def _text(name: str) -> str:
    return KERNEL.format(body="\n".join(line[4:] for line in BODIES[name].splitlines()))


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-9, 30, shape).astype(np.int32)


@pytest.mark.parametrize("name", BODIES)
def test_carries(name: str) -> None:
    for rows, columns in ((3, 37), (2, 1), (1, 8)):
        arguments = {"x": _numbers(columns), "a": _numbers(columns), "b": _numbers(columns)}
        agree(_text(name), {**arguments, "m": _numbers(rows, columns)})
    arguments = {"x": _numbers(19), "a": _numbers(19), "b": _numbers(19)}
    agree(_text(name), {**arguments, "m": _numbers(3, 19)}, small=False)


def test_they_compile(tmp_path: Path) -> None:
    assert problems(map(_text, BODIES), tmp_path) == []


def test_what_is_no_carry_takes_no_room() -> None:
    assert "c" not in device_text(_text("changed, and of no use")).split()
    assert "d_ptr" not in device_text(_text("never changed"))


def test_what_moves_on_at_its_own_coordinates_does_so_in_one_sweep() -> None:
    text = device_text(_text("several at their own coordinates"))
    sweeps = text[text.index("for t in") :].split("for start_n")
    stores = ["".join(re.findall(r"tl.store\((\w)_(?:before_)?ptr", sweep)) for sweep in sweeps]
    assert stores == ["", "b", "bam", "cd", "a"], stores
