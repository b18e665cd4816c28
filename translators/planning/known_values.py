"""Values that are known whatever the memory holds: identities of reductions, and functions of zeros and infinities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from intent.dtypes import DType, f8e4m3fn

Number = bool | int | float


def identity(kind: str, dtype: DType) -> Number | None:
    match kind:
        case "sum":
            return 0.0 if dtype.is_float else 0
        case "max" | "arg_max":
            return lowest(dtype)
        case "any":
            return False
        case "all":
            return True
        case _:
            return None


def lowest(dtype: DType) -> Number:
    """What every maximum is at least; f8e4m3fn has no infinity."""
    if dtype.is_float:
        return -448.0 if dtype == f8e4m3fn else -math.inf
    return -(1 << (dtype.bits - 1)) if dtype.is_signed else 0


def _exponential(value: Number) -> float:
    return 0.0 if value == -math.inf else 1.0 if value == 0 else math.nan


# Only values that are exact in every dtype are followed: zeros and infinities.
EXACT_FUNCTIONS: dict[tuple[str, int], Callable[..., Number]] = {
    ("add", 2): lambda a, b: a + b,
    ("subtract", 2): lambda a, b: a - b,
    ("multiply", 2): lambda a, b: a * b,
    ("negative", 1): lambda a: -a,
    ("abs", 1): abs,
    ("exp", 1): _exponential,
    ("exp2", 1): _exponential,
    ("sqrt", 1): lambda a: a if a == 0 else math.nan,
    ("maximum", 2): max,
    ("minimum", 2): min,
    ("sin", 1): lambda a: a if a == 0 else math.nan,
    ("tanh", 1): lambda a: a if a == 0 else math.nan,
    ("erf", 1): lambda a: a if a == 0 else math.nan,
}


# Of integers only zeros are followed, which no dtype wraps.
KEEPING_ZERO = frozenset({"add", "subtract", "and", "or", "xor"})  # zero of two zeros
ABSORBING_ZERO = frozenset({"multiply", "and"})  # zero if either is
SHIFTING = frozenset({"shift_left", "shift_right"})  # zero if the first is


def integer_function(function: str, known: Sequence[Number | None]) -> Number | None:
    """The value of a function of integers, of which some are known, where that is zero; None if it is not known."""
    zeros = [value is not None and value == 0 for value in known]
    absorbed = any(zeros) and (function in ABSORBING_ZERO or (function in SHIFTING and zeros[0]))
    return 0 if absorbed or (all(zeros) and function in KEEPING_ZERO) else None
