"""`numerics=relaxed_normalization`: a maximum and the sums relative to it in one sweep, and nothing else relaxed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from program_runs import agree, compiled, device_text, module

from translators.options import Options

pytestmark = pytest.mark.gpu

RELAXED = Options(numerics="relaxed_normalization")

SOFTMAX = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M", "N")]):
    columns = I.domain(0, x.shape[1])
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, columns]
        e = I.exp(v - I.reduce.max(v, axis=0))
        out[row, columns] = e / I.reduce.sum(e, axis=0)
"""
LOSS = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, :]
        largest = I.reduce.max(v, axis=0)
        out[row] = I.log(I.reduce.sum(I.exp(v - largest), axis=0)) + largest
"""
SCALED = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], s: I.f32, out: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, :]
        largest = I.reduce.max(v, axis=0) * s
        out[row] = I.log(I.reduce.sum(I.exp2(v * s - largest), axis=0)) + largest
"""
ENTROPY = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], w: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, :]
        p = I.exp((v - I.reduce.max(v, axis=0)) / 3.0)
        out[row] = I.reduce.sum(I.select(w[:] > 0.0, -p * v, 0.0), axis=0) / I.reduce.sum(p, axis=0)
"""
DOUBLE = """
@intent.kernel
def k(x: I.In[I.f64, ("M", "N")], out: I.Out[I.f64, ("N",)]):
    v = x[:, :]
    out[:] = I.reduce.sum(I.exp(v - I.reshape(I.reduce.max(v, axis=0), (1, x.shape[1]))), axis=0)
"""
ATTENTION = """
@intent.kernel
def k(q: I.In[I.f32, ("M", 16)], x: I.In[I.f32, ("N", 16)], out: I.Out[I.f32, ("M", 16)]):
    s = I.matmul(q[:, :], x[:, :], acc_dtype=I.f32, transpose_rhs=True)
    m = I.reduce.max(s, axis=1)
    p = I.exp(s - I.reshape(m, (q.shape[0], 1)))
    total = I.reduce.sum(p, axis=1)
    out[:, :] = I.matmul(p, x[:, :], acc_dtype=I.f32) / I.reshape(total, (q.shape[0], 1))
"""
ONLINE = {"softmax": SOFTMAX, "loss": LOSS, "scaled": SCALED, "entropy": ENTROPY, "double": DOUBLE}

# Not a normalisation, or not one that a factor corrects: two sweeps, whatever is permitted.
FOREIGN = LOSS.replace("v - largest", "v * 2.0 - largest")
NONLINEAR = LOSS.replace("v - largest", "v * v - largest * largest")
UNSCALED = LOSS.replace("I.exp(v - largest)", "I.exp(v - largest) + 1.0")
CUBED = LOSS.replace("I.exp(v - largest)", "I.tanh(v - largest)")
HALF = """
@intent.kernel
def k(x: I.In[I.f16, ("M", "N")], out: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, :]
        out[row] = I.reduce.sum(I.exp(v - I.reduce.max(v, axis=0)), axis=0)
"""
STRICT = {"foreign": FOREIGN, "nonlinear": NONLINEAR, "unscaled": UNSCALED, "tanh": CUBED, "half": HALF}


def _arguments(name: str, rows: int, columns: int, order: str) -> Mapping[str, object]:
    """Scores that rise along the row move the maximum in every tile; those that fall, only once."""
    random = np.random.default_rng(7)
    x = random.normal(size=(rows, columns)) * 20
    ramp = {"rising": 1.0, "falling": -1.0, "mixed": 0.0}[order]
    x += ramp * np.linspace(0, 200, columns)
    dtype = np.float64 if name == "double" else np.float32
    arguments: dict[str, object] = {"x": x.astype(dtype)}
    if name == "scaled":
        arguments["s"] = 0.37
    if name == "entropy":
        arguments["w"] = random.normal(size=columns).astype(np.float32)
    shape = (rows, columns) if name == "softmax" else (columns,) if name == "double" else (rows,)
    return {**arguments, "out": np.empty(shape, dtype)}


@pytest.mark.parametrize("order", ["rising", "falling", "mixed"])
@pytest.mark.parametrize("sizes", [(3, 37), (1, 64), (2, 1), (3, 17)])
@pytest.mark.parametrize("name", ONLINE)
def test_one_sweep_gives_what_two_do(name: str, sizes: tuple[int, int], order: str) -> None:
    agree(ONLINE[name], _arguments(name, *sizes, order), RELAXED, tolerance=2e-5 if name != "double" else 1e-12)


def test_empty_rows() -> None:
    agree(LOSS, {"x": np.empty((2, 0), np.float32), "out": np.empty(2, np.float32)}, RELAXED, tolerance=1e-6)


def test_strided_rows() -> None:
    x = (np.random.default_rng(1).normal(size=(37, 6)) * 9).astype(np.float32)[:, ::2].T
    agree(LOSS, {"x": x, "out": np.empty(3, np.float32)}, RELAXED, tolerance=2e-5)


@pytest.mark.parametrize("sizes", [(5, 37), (16, 16), (1, 1)])
def test_a_contraction_follows_too(sizes: tuple[int, int]) -> None:
    random = np.random.default_rng(3)
    rows, columns = sizes
    q, x = (random.normal(size=(extent, 16)).astype(np.float32) * 2 for extent in (rows, columns))
    agree(ATTENTION, {"q": q, "x": x, "out": np.empty((rows, 16), np.float32)}, RELAXED, tolerance=2e-5)


@pytest.mark.parametrize("name", ONLINE)
def test_one_sweep_less(name: str) -> None:
    relaxed, source = (device_text(ONLINE[name], options, small=True) for options in (RELAXED, Options()))
    starts = ("in range(0, ", "for back in range(")  # the last tile, with guards, goes on where whole tiles end
    sweeps = [sum(map(text[text.rindex("def k_") :].count, starts)) for text in (relaxed, source)]
    assert sweeps[1] - sweeps[0] == 1, relaxed


@pytest.mark.parametrize("name", STRICT)
def test_nothing_else_is_relaxed(name: str) -> None:
    assert device_text(STRICT[name], RELAXED, small=True) == device_text(STRICT[name], Options(), small=True)


def test_the_promise_is_in_the_docstring() -> None:
    assert "finite" in str(module(LOSS, RELAXED).__doc__)
    assert "finite" not in str(module(LOSS).__doc__)


def _streamed(text: str, options: Options) -> list[tuple[str | None, int]]:
    """When rows that do not fit on chip are taken in tiles of which length."""
    found = [variant for variant in compiled(text, options).codes[0].variants if "streamed" in variant.function]
    return [(variant.condition, variant.constants[0][1]) for variant in found]


VARIANCE = """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)]):
    for row in I.parallel(I.domain(0, x.shape[0])):
        v = x[row, :]
        centred = v - I.reduce.sum(v, axis=0) / 7.0
        out[row] = I.reduce.sum(centred * centred, axis=0)
"""


@pytest.mark.parametrize("text", [LOSS, SCALED])
def test_many_rows_that_are_read_once_have_short_tiles(text: str) -> None:
    assert _streamed(text, RELAXED) == [("M >= 1024", 4096), (None, 8192)]


@pytest.mark.parametrize(
    ("text", "options"),
    [(LOSS, Options()), (SOFTMAX, RELAXED), (VARIANCE, RELAXED), (NONLINEAR.replace("max", "sum"), RELAXED)],
)
def test_rows_that_are_read_again_have_long_ones(text: str, options: Options) -> None:
    assert _streamed(text, options) == [(None, 8192)]
