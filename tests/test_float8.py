"""Floats of eight bits: not every target has them, so that kernels see their bytes. All give the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from ahead_of_time import Child
from program_runs import HEADER, agree

pytestmark = pytest.mark.gpu

NUMPY = {"f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn), "f8e5m2": np.dtype(ml_dtypes.float8_e5m2)}
TARGETS = ("cuda:90", "cuda:80", "hip:gfx942")

KERNEL = """
@intent.fn
def larger(lhs, rhs):
    return I.maximum(lhs, rhs)


@intent.kernel
def k(
    x: I.In[I.{dtype}, ("M", "N")], y: I.In[I.{dtype}, ("M", "N")], b: I.In[I.u8, ("M", "N")], s: I.{dtype},
    o: I.Out[I.{dtype}, {shape}]{more},
):
    M, N = x.shape
    m, n = I.domain(0, M), I.domain(0, N)
    {body}
"""

BODIES = {
    "copy": ("o[m, n] = x[m, n]", "MN"),
    "transpose": ("o[n, m] = I.transpose(x[m, n])", "NM"),
    "select": ("o[m, n] = I.select(x[m, n] < y[m, n], x[m, n], y[m, n])", "MN"),
    "literal beside": ("o[m, n] = I.select(x[m, n] == y[m, n], x[m, n], 1.5)", "MN"),
    "negative zero": ("o[m, n] = I.select(b[m, n] > 9, -0.0, x[m, n])", "MN"),
    "arithmetic": ("o[m, n] = x[m, n] * 0.25 - y[m, n] * 0.125", "MN"),
    "unary": ("o[m, n] = I.abs(-x[m, n])", "MN"),
    "extremes": ("o[m, n] = I.maximum(x[m, n], I.minimum(y[m, n], s))", "MN"),
    "scalar": ("o[m, n] = I.select(b[m, n] > 99, s, x[m, n])", "MN"),
    "bits": ("o[m, n] = I.bitcast(b[m, n] ^ I.bitcast(x[m, n], I.u8), I.{dtype})", "MN"),
    "filled": ("o[m, n] = I.full((M, N), fill=s, dtype=I.{dtype})", "MN"),
    "gather": ("o[m, n] = I.gather(x, index=(I.indices(m)[:, None], I.indices(n)[None, :] // 2), valid=b[m, n] > 9,"
               " fill=0.5)", "MN"),
    "row maximum": ("o[m] = I.reduce.max(x[m, n], axis=1)", "M"),
    "own reduction": ("o[m] = I.reduce(x[m, n], axis=1, identity=-448.0, combine=larger)", "M"),
    "own scan": ("o[m, n] = I.scan(x[m, n], axis=1, identity=-448.0, combine=larger)", "MN"),
    "largest so far": ("o[m, n] = I.cummax(x[m, n], axis=1)", "MN"),
    "loop": ("for i in I.parallel(m):\n        best = x[i, 0]\n        for j in range(N):\n"
             "            best = I.maximum(best, x[i, j])\n        o[i] = best", "M"),
    "buffer": ("for i in I.parallel(m):\n        row = I.buffer((N,), I.{dtype}, init=0.0)\n        row[n] = x[i, n]\n"
               "        for j in range(N):\n            row[j] = I.maximum(row[j], row[N - 1 - j])\n"
               "        o[i, n] = row[n]", "MN"),
    "update": ("for i in I.parallel(m):\n        u[i, n] = I.maximum(u[i, n], x[i, n])\n        o[i, n] = u[i, n]",
               "MN u"),
    "from wider": ("o[m, n] = I.cast(I.cast(x[m, n], I.f32) * 0.3, I.{dtype})", "MN"),
    "from integers": ("o[m, n] = I.cast(b[m, n], I.{dtype})", "MN"),
}  # fmt: skip


def _text(dtype: str, name: str) -> str:
    body, form = BODIES[name]
    axes, _, update = form.partition(" ")
    shape = "(" + "".join(f'"{axis}", ' for axis in axes) + ")"
    more = f', {update}: I.InOut[I.{dtype}, ("M", "N")]' if update else ""
    return KERNEL.format(dtype=dtype, shape=shape, more=more, body=body.format(dtype=dtype))


def _bytes(dtype: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Any codes, but for infinities and codes next to them, which leave the range of f8e4m3fn."""
    codes = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    codes = np.where((codes & 0x7F) > (0x7E if dtype == "f8e4m3fn" else 0x7B), codes & 0x83, codes)
    return codes.astype(np.uint8).view(NUMPY[dtype])


@pytest.mark.parametrize("size", [(3, 37), (1, 1), (0, 5), (4, 0)], ids=str)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("dtype", NUMPY)
def test_module_agrees_with_the_reference(dtype: str, name: str, size: tuple[int, int]) -> None:
    rows, columns = size
    if not columns and name in ("loop", "row maximum"):
        columns = 2
    form = BODIES[name][1]
    shape = tuple({"M": rows, "N": columns}[axis] for axis in form.partition(" ")[0])
    x, y, o, u = (_bytes(dtype, (rows, columns), seed) for seed in range(4))
    b = np.random.default_rng(4).integers(0, 128, (rows, columns)).astype(np.uint8)
    arguments = {"x": x, "y": y, "b": b, "s": 1.75, "o": np.resize(o, shape).astype(NUMPY[dtype])}
    agree(_text(dtype, name), arguments | ({"u": u} if "u" in form else {}))


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    process = Child()
    yield process
    process.end()


@pytest.mark.parametrize("dtype", NUMPY)
def test_every_target_compiles_it(dtype: str, child: Child, tmp_path: Path) -> None:
    for name in BODIES:
        path = tmp_path / f"{name.replace(' ', '_')}.py"
        path.write_text(HEADER + _text(dtype, name), encoding="utf-8")
        reply = child.measurements(path, TARGETS)
        assert isinstance(reply, list), (name, reply)
        assert {each["target"] for each in reply} == set(TARGETS)
        problems = [each["text"] for each in reply if each["problem"] is not None]
        assert not problems, (name, problems)
