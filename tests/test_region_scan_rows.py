"""Region scans with a state for every row, where statement order keeps the rows within one program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from device_compilation import problems
from program_runs import agree

KERNEL = """
@intent.fn
def total(v, w):
    return I.reduce.sum(v * w, axis=1)


@intent.fn
def plus(a, b):
    return a + b


@intent.fn
def prefix(v, state, w):
    before = state[:, None] + I.cumsum(v * w, axis=1, inclusive=False)
    return I.record(sums=state[:, None] + I.cumsum(v * w, axis=1), before=v - before)


@intent.kernel
def k(
    x: I.In[I.i32, ("M", "N")], w: I.InOut[I.i32, ("M",)], y: I.InOut[I.i32, ("M", "N")],
    z: I.InOut[I.i32, ("M", "N")], last: I.Out[I.i32, ("M",)],
):
    M, N = x.shape
    m, n = I.domain(0, M), I.domain(0, N)
    zero = I.full((M,), 0, dtype=I.i32)
    last[m] = zero
    for t in range(0, M):
        w[t] = w[M - 1 - t] + 1
{body}
"""
SCAN = (
    "I.region_scan(source=(SOURCE,), axis=1, summarize=total, combine=plus, identity=zero, initial_state=zero, "
    "apply=plus, emit=prefix, operands=(w[m][:, None],))"
)
BODIES = {
    "one output": """
        p, s = SCAN(x[m, n])
        y[m, n] = p.sums
    """,
    "two outputs and the state": """
        p, s = SCAN(x[m, n])
        y[m, n] = p.sums
        z[m, n] = p.before
        last[m] = s
    """,
    "in place": """
        p, s = SCAN(y[m, n])
        y[m, n] = p.sums + p.before
        last[m] = s
    """,
    "in place, from the other end": """
        p, s = SCAN(y[m, N - 1 - I.indices(n)])
        y[m, n] = p.sums
        z[m, n] = p.before + s[:, None]
    """,
    "rows in another order": """
        p, s = SCAN(y[M - 1 - I.indices(m), n])
        y[m, n] = p.sums
        z[m, n] = p.before
    """,
    "what it needs is overwritten before the second output is stored": """
        p, s = SCAN(y[m, n])
        y[m, n] = p.sums
        for t in range(0, M):
            w[t] = w[M - 1 - t] * 2
        z[m, n] = p.before + w[m][:, None]
    """,
    "of a scan's output, again and again": """
        for t in range(0, 2):
            p, s = SCAN(y[m, n])
            z[m, n] = p.sums
            q, u = SCAN(z[m, n])
            y[m, n] = q.before - p.before
            w[m] = w[M - 1 - I.indices(m)] + s - u
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
    for rows, columns in ((5, 37), (1, 1), (20, 8), (0, 3), (3, 0)):
        matrices = {each: _numbers(rows, columns) for each in "xyz"}
        given = {"x": matrices["x"], "w": _numbers(rows), "y": matrices["y"], "z": matrices["z"]}
        agree(_text(name), {**given, "last": np.zeros(rows, np.int32)}, small=columns != 8)


def test_they_compile(tmp_path: Path) -> None:
    assert problems(map(_text, BODIES), tmp_path) == []
