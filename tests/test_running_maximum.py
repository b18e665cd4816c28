"""Folds whose slices' sums are taken relative to the maximum so far."""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, device_text

pytestmark = pytest.mark.gpu

FOLD = """
@intent.fn
def summarize(x, y):
    largest = I.reduce.max(x, axis=0)
    shift = {own}
    weights = {weights}
    return I.record(
        largest=largest, mass=I.reduce.sum(weights, axis=0),
        moment=I.matmul({factors}, y, acc_dtype=I.f32, transpose_lhs=True),
    )

@intent.fn
def merge(lhs, rhs):
    largest = I.maximum(lhs.largest, rhs.largest)
    shift = {common}
    left = I.exp(lhs.largest - shift)
    right = I.exp(rhs.largest - shift)
    return I.record(
        largest=largest, mass=lhs.mass * left + rhs.mass * right,
        moment=lhs.moment * left[:, None] + {moment},
    )

@intent.kernel
def k(x: I.In[I.f32, ("N", "M")], y: I.In[I.{stored}, ("N", 16)], out: I.Out[I.f32, ("M", 16)],
      mass: I.Out[I.f32, ("M",)]):
    M = x.shape[1]
    found = I.region_fold(
        source=(x[:, :], y[:, :]), axis=0, summarize=summarize, combine=merge,
        identity=I.record(
            largest=I.full((M,), -I.inf, dtype=I.f32), mass=I.full((M,), 0.0, dtype=I.f32),
            moment=I.full((M, 16), 0.0, dtype=I.f32),
        ),
    )
    out[:, :] = found.moment / found.mass[:, None]
    mass[:] = found.mass
"""
PARTS = {
    "own": "I.select(largest == -I.inf, 0.0, largest)", "common": "I.select(largest == -I.inf, 0.0, largest)",
    "weights": "I.exp(x - shift[None, :])", "factors": "weights", "moment": "rhs.moment * right[:, None]",
    "stored": "f32",
}  # fmt: skip
TAKEN_UP = {
    "plain": {},
    "rounded": {"factors": "I.cast(weights, I.f16)", "stored": "f16"},
    "scaled": {"factors": "weights / 3.0"},
    "selected": {"weights": "I.select(x > -1.0, I.exp(x - shift[None, :]), 0.0)"},
    "turned": {"moment": "right[:, None] * rhs.moment"},
}
LEFT_ALONE = {
    "another exponent": {"weights": "I.exp((x - shift[None, :]) * 0.5)"},
    "another function": {"weights": "I.exp2(x - shift[None, :])"},
    "a sum beside": {"weights": "I.exp(x - shift[None, :]) + 1.0"},
    "a moment without factor": {"moment": "rhs.moment"},
    "not the maximum": {"own": "largest * 2.0"},
}


def _text(changes: dict[str, str]) -> str:
    return FOLD.format(**PARTS | changes)


def _arguments(rows: int, columns: int, stored: str) -> dict[str, object]:
    random = np.random.default_rng(2)
    x = (random.normal(size=(columns, rows)) * 5).astype(np.float32)
    y = random.normal(size=(columns, 16)).astype({"f16": np.float16, "f32": np.float32}[stored])
    return {"x": x, "y": y, "out": np.empty((rows, 16), np.float32), "mass": np.empty(rows, np.float32)}


@pytest.mark.parametrize("sizes", [(3, 37), (17, 64), (1, 1)])
@pytest.mark.parametrize("changes", TAKEN_UP)
def test_results(changes: str, sizes: tuple[int, int]) -> None:
    parts = TAKEN_UP[changes]
    stored = parts.get("stored", "f32")
    agree(_text(parts), _arguments(*sizes, stored), tolerance=2e-3 if stored == "f16" else 1e-5)


@pytest.mark.parametrize("value", [-np.inf, np.inf, np.nan])
@pytest.mark.parametrize("columns", [slice(0, 16), slice(20, 21), slice(None)])
def test_values_that_are_no_numbers(value: float, columns: slice) -> None:
    """A slice of -inf alone in front, one such value within, and nothing else in a row."""
    arguments = _arguments(5, 37, "f32")
    x = arguments["x"]
    assert isinstance(x, np.ndarray)
    x[columns, 2] = value
    agree(_text({}), arguments, tolerance=1e-5)


@pytest.mark.parametrize("changes", TAKEN_UP)
def test_no_factor_of_the_slice_is_left(changes: str) -> None:
    text = device_text(_text(TAKEN_UP[changes]))
    assert "right" not in text and text.count("tl.dot(") == 2, text


@pytest.mark.parametrize("changes", LEFT_ALONE)
def test_other_folds_keep_their_factors(changes: str) -> None:
    assert "right" in device_text(_text(LEFT_ALONE[changes]))


@pytest.mark.parametrize("sizes", [(3, 37), (17, 64), (1, 1)])
def test_an_axis_that_only_one_effect_has_stays_on_chip(sizes: tuple[int, int]) -> None:
    """One loop gives both results: it cannot run once for every tile of the columns that `mass` lacks."""
    text = _text({}).replace('("N", 16)', '("N", "D")').replace('("M", 16)', '("M", "D")').replace("(M, 16)", "(M, D)")
    text = text.replace("    M = x.shape[1]\n", "    M = x.shape[1]\n    D = y.shape[1]\n")
    agree(text, _arguments(*sizes, "f32"), tolerance=1e-5)
