"""Error bounds of device functions on a device whose approximate instructions are as wrong as they may be.

The text of a device function is run on NumPy arrays, with tl.exp2 and `/` two units in the last place away from the
correctly rounded result, in either direction.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from translators.triton_source.device_functions import HELPERS

Float = np.float32


def shifted(values: np.ndarray, units: int) -> np.ndarray:
    """Finite positive values, some units in the last place away."""
    bits = values.astype(Float).view(np.int32)
    return np.where(np.isfinite(values) & (bits > 2), bits + units, bits).astype(np.int32).view(Float)


class Lanes(np.ndarray):
    """An array of float32 whose quotients are off by `units`."""

    units = 0

    def __rtruediv__(self, other: float) -> Any:  # noqa: ANN401 - an array of this class
        return shifted(np.asarray(Float(other) / np.asarray(self)), self.units).view(type(self))


def device_function(name: str, quotient: int, exponential: int) -> Any:  # noqa: ANN401 - it is called with arrays
    """The function as Python, on a device with these errors."""
    lanes = type("Lanes", (Lanes,), {"units": quotient})

    def exp2(x: np.ndarray) -> np.ndarray:
        return shifted(np.exp2(np.asarray(x, np.float64)).astype(Float), exponential).view(lanes)

    tl = SimpleNamespace(abs=np.abs, where=np.where, exp2=exp2)
    text = HELPERS[name].source.replace("@triton.jit\n", "")
    scope: dict[str, Any] = {"tl": tl}
    exec(text, scope)
    return lambda x: np.asarray(scope[name](x.view(lanes)))


def units_apart(found: np.ndarray, exact: np.ndarray) -> int:
    return int(np.abs(found.view(np.int32).astype(np.int64) - exact.astype(Float).view(np.int32)).max())


@pytest.mark.parametrize(("quotient", "exponential"), list(itertools.product((-2, 0, 2), repeat=2)))
def test_tanh_of_every_hundredth_number(quotient: int, exponential: int) -> None:
    first, last = (int(np.array(value, Float).view(np.int32)) for value in (1e-4, 10.0))
    x = np.arange(first, last, 101, dtype=np.int32).view(Float)
    tanh = device_function("_tanh", quotient, exponential)
    assert units_apart(tanh(x), np.tanh(x.astype(np.float64))) <= 2
    assert np.array_equal(tanh(-x), -tanh(x))


def test_the_errors_are_made() -> None:
    """A device function that depends on them in full shows them."""
    x = np.linspace(1.0, 2.0, 1000).astype(Float)
    ideal, off = (device_function("_tanh", units, 0)(x) for units in (0, 2))
    assert units_apart(ideal, off) > 0


@pytest.mark.parametrize("x", [np.inf, 88.8, 1e30, -np.inf, -1e30])
def test_tanh_saturates(x: float) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        assert device_function("_tanh", 2, 2)(np.array([x], Float))[0] == np.sign(x)
