"""Literals rounded to the float dtypes, nearest even, in exact Python arithmetic."""

from __future__ import annotations

import math
from typing import Final

from intent.dtypes import DType
from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class _Layout:
    precision: int  # significand bits, the hidden one included
    least_exponent: int  # of a normal number
    largest: float


_LAYOUTS: Final = {
    "f16": _Layout(11, -14, 65504.0),
    "bf16": _Layout(8, -126, float.fromhex("0x1.fep127")),
    "f32": _Layout(24, -126, float.fromhex("0x1.fffffep127")),
    "f8e4m3fn": _Layout(4, -6, 448.0),
    "f8e5m2": _Layout(3, -14, 57344.0),
}


def has_infinity(dtype: DType) -> bool:
    return dtype.name != "f8e4m3fn"


def round_to(value: float, dtype: DType) -> float:
    """The nearest number of `dtype`; infinity where a finite value is beyond its range."""
    layout = _LAYOUTS.get(dtype.name)
    if layout is None or value == 0 or not math.isfinite(value):
        return value
    _, exponent = math.frexp(value)
    unit = max(exponent - 1, layout.least_exponent) - (layout.precision - 1)
    rounded = math.ldexp(float(round(math.ldexp(value, -unit))), unit)
    return math.copysign(rounded if abs(rounded) <= layout.largest else math.inf, value)


def integer_range(dtype: DType) -> tuple[int, int]:
    """The smallest and largest value of an integer dtype."""
    if dtype.is_signed:
        return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
    return 0, (1 << dtype.bits) - 1


def wrap(value: int, dtype: DType) -> int:
    """`value` modulo 2**bits, in the range of an integer dtype."""
    low, _ = integer_range(dtype)
    return (value - low) % (1 << dtype.bits) + low
