"""Region scans of memory that is rewritten, and effects between a scan and the store of its output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree

pytestmark = pytest.mark.gpu

KERNEL = """
@intent.fn
def total(v):
    return I.reduce.sum(v, axis=0)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def prefix(v, state):
    return state + I.cumsum(v, axis=0)


@intent.kernel
def k(x: I.In[I.i32, ("N",)], y: I.InOut[I.i32, ("N",)], z: I.InOut[I.i32, ("N",)], m: I.InOut[I.i32, ("R", "N")]):
    R, N = m.shape
    rows, n = I.domain(0, R), I.domain(0, N)
    i = I.indices(n)
    zero = I.cast(0, I.i32)
{body}
"""
SCAN = (
    "I.region_scan(source=(SOURCE,), axis=0, summarize=total, combine=plus, identity=zero, initial_state=zero, "
    "apply=plus, emit=prefix)"
)
BODIES = {
    "a scan of what a scan wrote": """
        p, last = SCAN(x[n])
        y[n] = p
        q, final = SCAN(y[n])
        z[n] = q + final
    """,
    "in place, with what follows it": """
        p, last = SCAN(y[n])
        y[n] = p + last
    """,
    "of what was written, reversed": """
        p, last = SCAN(x[n])
        y[n] = p
        q, final = SCAN(y[N - 1 - i])
        z[n] = q - last
    """,
    "of every row, in place": """
        for r in I.parallel(rows):
            p, last = SCAN(m[r, n])
            m[r, n] = p - x[n]
            q, final = SCAN(m[r, N - 1 - i])
            m[r, n] = q + final
    """,
    "again and again": """
        for t in range(0, 3):
            p, last = SCAN(y[n])
            y[n] = p - last
    """,
    "between other effects": """
        p, last = SCAN(x[n])
        y[n] = p
        z[n] = y[N - 1 - i]
        q, final = SCAN(z[n])
        y[n] = q + y[n]
    """,
    "a read between the scan and its store": """
        p, last = SCAN(x[n])
        z[n] = y[N - 1 - i]
        y[n] = p
    """,
    "an equal read in between": """
        p, last = SCAN(y[n])
        z[n] = y[n]
        y[n] = p
    """,
    "a store in between": """
        p, last = SCAN(x[n])
        y[n] = y[n] * 2
        y[n] = y[N - 1 - i] + p
    """,
    "a condition that an effect in between decides": """
        p, last = SCAN(y[N - 1 - i])
        z[n] = z[N - 1 - i] + last
        if z[0] > 3:
            y[n] = p
        z[n] += y[n]
    """,
    "a loop in between": """
        p, last = SCAN(y[n])
        for t in range(0, N):
            y[t] = y[N - 1 - t] + last
        y[n] = p + y[N - 1 - i]
    """,
    "a loop of every point in between": """
        for r in I.parallel(rows):
            p, last = SCAN(m[r, n])
            for t in range(1, N):
                m[r, t] = m[r, t - 1] + last
            m[r, n] = p + m[r, N - 1 - i]
        y[n] = m[0, n]
    """,
    "stored in a loop": """
        p, last = SCAN(x[n])
        for t in range(0, 3):
            y[n] = y[N - 1 - i] + p * I.cast(t + 1, I.i32)
    """,
    "stored by points": """
        p, last = SCAN(x[n])
        for r in I.parallel(rows):
            m[r, n] = m[r, N - 1 - i] + p * I.cast(r, I.i32)
    """,
    "two in a loop, exchanged": """
        for t in range(0, 2):
            p, last = SCAN(y[n])
            q, more = SCAN(z[N - 1 - i])
            z[n] = p + z[n]
            y[n] = q - last
    """,
    "a scan of a scan's output": """
        p, last = SCAN(x[n])
        q, final = SCAN(p)
        y[n] = q
        z[n] = y[N - 1 - i] + p
    """,
}  # fmt: skip


def _text(name: str) -> str:
    """`SCAN(v)` in a body is a scan of v."""
    lines = [line[4:] for line in BODIES[name].splitlines()]
    for number, line in enumerate(lines):
        if "SCAN(" in line:
            targets, source = line.split(" = SCAN(")
            lines[number] = f"{targets} = {SCAN.replace('SOURCE', source.removesuffix(')'))}"
    return KERNEL.format(body="\n".join(lines))


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-9, 30, shape).astype(np.int32)


@pytest.mark.parametrize("name", BODIES)
def test_order(name: str) -> None:
    for columns, rows in ((37, 3), (1, 1), (8, 2)):
        vectors = {name: _numbers(columns) for name in "xyz"}
        agree(_text(name), {**vectors, "m": _numbers(rows, columns)})
    agree(_text(name), {**{name: _numbers(9) for name in "xyz"}, "m": _numbers(2, 9)}, small=False)


def test_they_compile(tmp_path: Path) -> None:
    names = ["of every row, in place", "a condition that an effect in between decides", "two in a loop, exchanged"]
    assert problems(map(_text, names), tmp_path) == []
