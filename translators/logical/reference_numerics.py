"""How the reference represents and converts elements: one NumPy dtype per dtype, exact casts, single roundings.

A runtime value is a NumPy array of its dtype's carrier; scalars are 0-d arrays. Nothing here knows programs or memory.
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import numpy.typing as npt

from intent.dtypes import DType
from translators.diagnostics import Span

Array = npt.NDArray[np.generic]

CARRIERS: dict[str, np.dtype[np.generic]] = {
    "bool": np.dtype(np.bool_), "index": np.dtype(np.int64),
    "i8": np.dtype(np.int8), "i16": np.dtype(np.int16), "i32": np.dtype(np.int32), "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8), "u16": np.dtype(np.uint16), "u32": np.dtype(np.uint32), "u64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f8e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn), "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}  # fmt: skip

F8E4M3FN_LARGEST = 448.0


class IllegalInput(Exception):
    """The arguments make the program do what the language forbids. `span` is the offending statement, once known."""

    def __init__(self, message: str, span: Span | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span

    def __str__(self) -> str:
        if self.span is None or not self.span.line:
            return self.message
        return f"{self.span.path}:{self.span.line}:{self.span.column}: {self.message}"


def carrier(dtype: DType) -> np.dtype[np.generic]:
    return CARRIERS[dtype.name]


def filled(shape: tuple[int, ...], value: bool | int | float, dtype: DType) -> Array:
    """A new array; `value` is a Python number, rounded once if dtype is a float."""
    result = np.empty(shape, carrier(dtype))
    result[...] = literal(value, dtype)
    return result


def literal(value: bool | int | float, dtype: DType) -> Array:
    if not dtype.is_float:
        return np.asarray(value, carrier(dtype))
    fits = isinstance(value, int) and -(2**63) <= value < 2**63
    return round_to(np.asarray(value, np.int64) if fits else np.asarray(float(value)), dtype)


def lowest(dtype: DType) -> bool | int | float:
    """The identity of `max`: minus infinity, or the least value where the dtype has no infinity."""
    if dtype.kind == "bool":
        return False
    if dtype.is_integer:
        return -(1 << (dtype.bits - 1)) if dtype.is_signed else 0
    return -F8E4M3FN_LARGEST if dtype.name == "f8e4m3fn" else -math.inf


def highest(dtype: DType) -> bool | int | float:
    """The identity of `min`."""
    if dtype.kind == "bool":
        return True
    if dtype.is_integer:
        return (1 << (dtype.bits - 1)) - 1 if dtype.is_signed else (1 << dtype.bits) - 1
    return F8E4M3FN_LARGEST if dtype.name == "f8e4m3fn" else math.inf


def is_narrow(dtype: DType) -> bool:
    """Floats whose arithmetic is computed in f32 and rounded after each operation."""
    return dtype.is_float and dtype.bits < 32


def widened(array: Array, dtype: DType) -> Array:
    """The operand as its arithmetic sees it: narrow floats as f32, everything else as it is."""
    return array.astype(np.float32) if is_narrow(dtype) else array


def as_double(array: Array) -> npt.NDArray[np.float64]:
    return array.astype(np.float64)


# ------------------------------------------------------------------------------------------------------------- rounding
def round_to(array: Array, dtype: DType) -> Array:
    """A wider float (or an integer) array rounded to the nearest value of a float dtype, ties to even, exactly once."""
    target = carrier(dtype)
    if array.dtype == target:
        return array
    if array.dtype.kind in "iub":
        return _round_integer(array, dtype)
    if dtype.name == "f8e4m3fn":
        _require_f8e4m3fn_range(array)
    if array.dtype == np.longdouble:
        array = array.astype(np.float64) if dtype.bits == 64 else _odd(array, np.float64)
    if dtype.name in ("bf16", "f8e4m3fn", "f8e5m2"):  # ml_dtypes would round twice: f64 by way of f32
        array = _odd(array, np.float32) if array.dtype == np.float64 else array
        array = _odd(array, np.float16) if dtype.name == "f8e5m2" and array.dtype != np.float16 else array
    return array.astype(target)


def _require_f8e4m3fn_range(array: Array) -> None:
    if np.any(np.abs(array) > F8E4M3FN_LARGEST):
        raise IllegalInput(f"a value beyond ±{F8E4M3FN_LARGEST:g} does not fit f8e4m3fn, which has no infinity")


def _odd(array: Array, narrower: type[np.float16] | type[np.float32] | type[np.float64]) -> Array:
    """Truncate to a narrower float and set the last bit if anything was lost, so that a second rounding is exact."""
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(narrower).itemsize]
    near = np.asarray(array.astype(narrower))
    inexact = np.isfinite(array) & (near.astype(array.dtype) != array)
    away = inexact & (np.abs(near.astype(array.dtype)) > np.abs(array))
    truncated = np.where(away, np.nextafter(near, narrower(0)), near)
    odd: Array = (truncated.view(bits) | inexact.astype(bits)).view(narrower)
    return odd


def _round_integer(array: Array, dtype: DType) -> Array:
    if dtype.bits >= 32:
        return array.astype(carrier(dtype))
    if array.dtype.itemsize < 8:
        return round_to(array.astype(np.float64), dtype)
    # Fold the low bits into one sticky bit: what remains is exact in f64 and rounds to a narrow float alike.
    kept, lost = np.right_shift(array, 12), np.bitwise_and(array, 0xFFF)
    sticky = np.bitwise_or(np.left_shift(kept, 12), np.left_shift((lost != 0).astype(array.dtype), 11))
    large = np.greater_equal(array, 2**52)
    if array.dtype.kind == "i":
        large = np.logical_or(large, np.less_equal(array, -(2**52)))
    return round_to(np.where(large, sticky, array).astype(np.float64), dtype)


# ---------------------------------------------------------------------------------------------------------------- casts
def cast(array: Array, source: DType, target: DType) -> Array:
    """`I.cast`: modulo for integers, truncation of floats, nearest-even rounding to floats, `!= 0` to bool."""
    if source == target:
        return array
    if target.kind == "bool":
        return np.not_equal(widened(array, source), 0)
    if target.is_float:
        return round_to(widened(array, source), target)
    if source.is_float:
        return _truncate(widened(array, source), target)
    return array.astype(carrier(target), casting="unsafe")


def _truncate(array: Array, target: DType) -> Array:
    whole = np.trunc(array.astype(np.float64))
    low = float(lowest(target))
    beyond = float(int(highest(target)) + 1)  # exact: a power of two
    if np.any(~((whole >= low) & (whole < beyond))):
        raise IllegalInput(f"a float that is NaN, infinite or out of range is cast to {target.name}")
    if target.bits == 64 and not target.is_signed:
        return np.asarray(whole, np.uint64)
    return whole.astype(np.int64).astype(carrier(target))


def bitcast(array: Array, target: DType) -> Array:
    return np.ascontiguousarray(array).reshape(array.shape).view(carrier(target))
