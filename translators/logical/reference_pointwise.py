"""The reference of `Pointwise`: elementwise functions of arrays that share one dtype."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from intent.dtypes import DType
from translators.logical.program import COMPARISON
from translators.logical.reference_numerics import (
    Array,
    IllegalInput,
    as_double,
    carrier,
    is_narrow,
    lowest,
    round_to,
    widened,
)
from translators.logical.reference_special import FUNCTIONS

_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}


def pointwise(function: str, arguments: tuple[Array, ...], dtype: DType, flush_to_zero: bool = False) -> Array:
    """`dtype` is the operands'. Narrow floats are computed in f32 and rounded; wrap-around is silent."""
    if function in COMPARISON:
        return _COMPARE[function](*(widened(argument, dtype) for argument in arguments))
    if function in FUNCTIONS:
        return _special(function, arguments[0], dtype, flush_to_zero)
    result = _TABLE[function](*(widened(argument, dtype) for argument in arguments), dtype)
    rounded = np.asarray(round_to(result, dtype) if is_narrow(dtype) else result)
    return _flushed(rounded) if flush_to_zero else rounded.astype(carrier(dtype), copy=False)


def _special(function: str, argument: Array, dtype: DType, flush_to_zero: bool) -> Array:
    argument = _flushed(argument) if flush_to_zero else argument
    result = round_to(np.asarray(FUNCTIONS[function](as_double(argument))), dtype)
    return _flushed(result) if flush_to_zero else result


def _flushed(array: Array) -> Array:
    """Subnormals (of f32: the only dtype with this option) as zeros of their sign."""
    return np.where(np.abs(array) < np.finfo(np.float32).tiny, np.copysign(array.dtype.type(0), array), array)


# ------------------------------------------------------------------------------------------------ integer partial rules
def _require_divisor(lhs: Array, rhs: Array, dtype: DType, overflow_matters: bool) -> None:
    if lhs.size == 0 or rhs.size == 0:
        return
    if np.any(np.equal(rhs, 0)):
        raise IllegalInput("integer division by zero")
    wraps = overflow_matters and dtype.is_signed
    if wraps and np.any(np.logical_and(np.equal(lhs, lowest(dtype)), np.equal(rhs, -1))):
        raise IllegalInput(f"the least {dtype.name} is divided by -1")


def _floor_divide(lhs: Array, rhs: Array, dtype: DType) -> Array:
    if dtype.is_float:
        return np.asarray(np.floor(np.divide(lhs, rhs)))
    _require_divisor(lhs, rhs, dtype, overflow_matters=True)
    return np.asarray(np.floor_divide(lhs, rhs))


def _remainder(lhs: Array, rhs: Array, dtype: DType) -> Array:
    _require_divisor(lhs, rhs, dtype, overflow_matters=False)
    return np.asarray(np.remainder(lhs, rhs))


def _require_amount(amount: Array, dtype: DType) -> None:
    if amount.size and (np.any(np.less(amount, 0)) or np.any(np.greater_equal(amount, dtype.bits))):
        raise IllegalInput(f"a shift amount lies outside [0, {dtype.bits})")


def _shift_left(lhs: Array, rhs: Array, dtype: DType) -> Array:
    _require_amount(rhs, dtype)
    return np.asarray(np.left_shift(lhs, rhs))


def _shift_right(lhs: Array, rhs: Array, dtype: DType) -> Array:
    _require_amount(rhs, dtype)
    return np.asarray(np.right_shift(lhs, rhs))


def _power(lhs: Array, rhs: Array, dtype: DType) -> Array:
    if dtype.is_float:
        exact = np.asarray(np.power(as_double(lhs), as_double(rhs)))
        return exact if is_narrow(dtype) else round_to(exact, dtype)
    if dtype.is_signed and np.any(np.less(rhs, 0)):
        raise IllegalInput("an integer is raised to a negative power")
    return np.asarray(np.power(lhs, rhs))


def _plain(function: Callable[..., object]) -> Callable[..., Array]:
    """A rule that does not depend on the dtype."""
    return lambda *arguments: np.asarray(function(*arguments[:-1]))


_TABLE: dict[str, Callable[..., Array]] = {
    "add": _plain(np.add),
    "subtract": _plain(np.subtract),
    "multiply": _plain(np.multiply),
    "divide": _plain(np.divide),
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "power": _power,
    "and": _plain(np.bitwise_and),
    "or": _plain(np.bitwise_or),
    "xor": _plain(np.bitwise_xor),
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "maximum": _plain(np.maximum),
    "minimum": _plain(np.minimum),
    "maximum_num": _plain(np.fmax),
    "minimum_num": _plain(np.fmin),
    "negative": _plain(np.negative),
    "invert": _plain(np.invert),
    "not": _plain(np.logical_not),
    "abs": _plain(np.abs),
}
