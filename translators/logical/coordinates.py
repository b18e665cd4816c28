"""Index scalars of the logical program as polynomials."""
from __future__ import annotations

from collections.abc import Callable

from translators.algebra.polynomial import (
    Polynomial,
    atomic,
    floor_divide,
    maximum,
    minimum,
    number,
    remainder,
)
from translators.logical.program import Constant, Pointwise, Size, Value

_ARITHMETIC: dict[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "maximum": maximum,
    "minimum": minimum,
}


def polynomial(value: Value) -> Polynomial:
    """The value of an index scalar over sizes and the values no arithmetic explains (loads, loop variables, carries)."""
    match value.origin:
        case Constant(value=literal) if value.dtype.kind == "index":
            return number(int(literal))
        case Size(extent=extent):
            return extent
        case Pointwise(function="negative", arguments=(argument,)) if value.dtype.kind == "index":
            return -polynomial(argument)
        case Pointwise(function=function, arguments=(lhs, rhs)) if (
            function in _ARITHMETIC and value.is_scalar and value.dtype.kind == "index"
        ):
            return _ARITHMETIC[function](polynomial(lhs), polynomial(rhs))
        case _:
            return atomic(value)
