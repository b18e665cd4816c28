"""The float functions of one argument, evaluated in f64; the caller rounds once to the dtype."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


def _elementwise(function: Callable[[float], float]) -> Callable[[Doubles], Doubles]:
    compiled = np.frompyfunc(function, 1, 1)
    return lambda array: np.asarray(compiled(array), np.float64)


def _log_gamma(value: float) -> float:
    """math.lgamma with the poles and overflow as infinity; lgamma(-inf) is infinity too."""
    if math.isinf(value) or (value <= 0 and value == math.floor(value)):
        return math.inf
    try:
        return math.lgamma(value)
    except OverflowError:
        return math.inf


def _sigmoid(array: Doubles) -> Doubles:
    """1 / (1 + exp(-x)) without overflow on either side."""
    small = np.exp(-np.abs(array))
    result: Doubles = np.where(array >= 0, 1.0 / (1.0 + small), small / (1.0 + small))
    return result


def _bessel_i0(array: Doubles) -> Doubles:
    """numpy.i0 where its exp does not overflow; beyond, the asymptotic series with the exponential split in two."""
    magnitude = np.abs(array)
    large = magnitude > 700.0
    if not np.any(large):
        return np.asarray(np.i0(magnitude), np.float64).reshape(array.shape)
    near = np.asarray(np.i0(np.where(large, 0.0, magnitude))).reshape(array.shape)
    x = np.where(large, magnitude, 700.0)
    series = 1 + 1 / (8 * x) + 9 / (128 * x**2) + 225 / (3072 * x**3) + 11025 / (98304 * x**4)
    far = np.exp(x / 2) * (series / np.sqrt(2 * math.pi * x)) * np.exp(x / 2)
    result: Doubles = np.where(large, np.where(np.isinf(magnitude), np.inf, far), near)
    return result


def _reciprocal_root(array: Doubles) -> Doubles:
    return np.asarray(1.0 / np.sqrt(array))


FUNCTIONS: dict[str, Callable[[Doubles], Doubles]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log1p": np.log1p,
    "lgamma": _elementwise(_log_gamma),
    "sin": np.sin,
    "asin": np.arcsin,
    "cos": np.cos,
    "floor": np.floor,
    "erf": _elementwise(math.erf),
    "erfc": _elementwise(math.erfc),
    "i0": _bessel_i0,
    "rsqrt": _reciprocal_root,
    "sqrt": np.sqrt,
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
}
