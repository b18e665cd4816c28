"""Error bounds of device functions on a device whose approximate instructions are as wrong as they may be.

The text of a device function is run on NumPy arrays, with tl.exp2 and `/` two units in the last place away from the
correctly rounded result, in either direction.
"""

from __future__ import annotations

import itertools
import re
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


# ------------------------------------------------------------------------------------- quotients rounded to float16
def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c, rounded once: the product is exact in float64, and the sum is rounded to odd before float32."""
    product, addend = np.asarray(a, np.float64) * np.asarray(b, np.float64), np.asarray(c, np.float64)
    total = product + addend
    part = total - product
    lost = (product - (total - part)) + (addend - part)
    even = (total.view(np.int64) & 1) == 0
    odd = np.where((lost != 0) & np.isfinite(lost) & even, np.nextafter(total, np.copysign(np.inf, lost)), total)
    return odd.astype(Float)


def half_quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What `_half_quotient` gives on a device, whose fused multiply-add rounds once."""

    def where(condition: np.ndarray, a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
        return np.where(condition, np.asarray(a, Float), np.asarray(b, Float))

    tl = SimpleNamespace(abs=np.abs, where=where, fma=fma, div_rn=lambda a, b: Float(a) / b)
    text = HELPERS["_half_quotient"].source.replace("@triton.jit\n", "")
    text = re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"Float({number.group()})", text)
    scope: dict[str, Any] = {"tl": tl, "_INTERPRETED": False, "Float": Float}
    exec(text, scope)
    found: np.ndarray = scope["_half_quotient"](x, y)
    return found


def assert_quotients(x: np.ndarray, y: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        found, exact = half_quotient(x, y), x / y
        told_apart = (np.abs(exact) > 2.0**-26) & (np.abs(exact) < 2.0**16)
        np.testing.assert_array_equal(found[told_apart], exact[told_apart])
        halves = [each.astype(np.float16) for each in (found, exact)]
        missing = [np.isnan(each) for each in halves]
        np.testing.assert_array_equal(*missing)
        bits = [np.where(gone, 0, half.view(np.uint16)) for half, gone in zip(halves, missing, strict=True)]
        np.testing.assert_array_equal(*bits)


def test_quotients_of_every_kind_of_number() -> None:
    """Ends of the ranges, and the neighbours of powers of two, of either sign; zeros, infinities, NaN."""
    powers = np.float64(2.0) ** np.arange(-149, 128)
    near = np.concatenate([powers.astype(Float), np.nextafter(powers.astype(Float), Float(0))])
    values = np.concatenate([near, [0.0, np.inf, np.nan, np.finfo(Float).max, 1.5, 3.0, 10.0, 1 / 3]]).astype(Float)
    values = np.concatenate([values, -values])
    assert_quotients(*(each.ravel() for each in np.meshgrid(values, values)))


def test_quotients_at_random() -> None:
    random = np.random.default_rng(11)
    bits = random.integers(0, 1 << 32, (2, 1 << 20), dtype=np.uint32).view(Float)
    assert_quotients(*bits)
    mantissas = (random.integers(1 << 23, 1 << 24, (2, 1 << 20)) * 2.0**-23).astype(Float)
    assert_quotients(*mantissas)


@pytest.mark.parametrize("divisor", [2**24 - 1, 2**24 - 2, 2**24 - 3, 2**23 + 1, 2**23 + 3, 3 * 2**22 + 1, 11863283])
def test_quotients_of_all_dividends(divisor: int) -> None:
    """The first divisors have the reciprocals with the largest errors."""
    x = np.arange(1 << 23, 1 << 24, dtype=np.int64).astype(Float)
    assert_quotients(x, np.array(divisor, Float))


def test_quotients_next_to_the_middle_of_two_numbers() -> None:
    """Of every divisor (and every dividend of 24 bits that comes closest), as far as some thousand divisors go."""
    divisor = np.random.default_rng(3).integers(1 << 22, 1 << 23, 4096) * 2 + 1
    for distance in (-2, -1, 1, 2):
        # dividend * 2**25 = distance modulo the divisor, so that the quotient is near an odd multiple of half a unit
        inverse = np.array([pow(1 << 25, -1, int(each)) for each in divisor])
        dividend = distance * inverse % divisor
        scaled = np.where(dividend < (1 << 23), dividend * 2, dividend)
        for x in (dividend, scaled):
            assert_quotients(x.astype(Float), divisor.astype(Float))
