"""Index scalars of the logical program as polynomials."""

from __future__ import annotations

from collections.abc import Callable

from translators.algebra.polynomial import (
    Atom,
    Opaque,
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


_LARGEST = 96  # atoms written in a polynomial: beyond this a value is one opaque atom itself


def polynomial(value: Value, known: dict[Value, Polynomial] | None = None) -> Polynomial:
    """The value of an index scalar over sizes and the values no arithmetic explains (loads, loop variables, carries).

    `known` remembers what was worked out before: without it a long chain of sums is walked again for every link.
    """
    memory = {} if known is None else known
    pending = [value]
    while pending:
        operands = [other for other in _operands(pending[-1]) if other not in memory]
        if operands:
            pending.extend(operands)
        else:
            last = pending.pop()
            memory[last] = _combined(last, memory)
    return memory[value]


def _operands(value: Value) -> tuple[Value, ...]:
    """The index scalars that arithmetic makes `value` of; none if it is a leaf."""
    if not value.is_scalar or value.dtype.kind != "index" or not isinstance(value.origin, Pointwise):
        return ()
    known = value.origin.function == "negative" or value.origin.function in _ARITHMETIC
    return value.origin.arguments if known else ()


def _combined(value: Value, memory: dict[Value, Polynomial]) -> Polynomial:
    match value.origin:
        case Constant(value=literal) if value.dtype.kind == "index":
            return number(int(literal))
        case Size(extent=extent):
            return extent
        case Pointwise(function="negative", arguments=(argument,)) if _operands(value):
            return -memory[argument]
        case Pointwise(function=function, arguments=(lhs, rhs)) if _operands(value):
            a, b = memory[lhs], memory[rhs]
            return atomic(value) if _too_large(function, a, b) else _ARITHMETIC[function](a, b)
        case _:
            return atomic(value)


def _too_large(function: str, a: Polynomial, b: Polynomial) -> bool:
    """Whether normal forms would outgrow the program: repeated squaring doubles a monomial with every statement,
    repeated division nests one opaque atom in another."""
    if function == "multiply":
        return _weight(a) * len(b.terms) + _weight(b) * len(a.terms) > _LARGEST
    return _weight(a) + _weight(b) > _LARGEST


def _weight(a: Polynomial) -> int:
    """How many atoms are written in it, those inside opaque atoms included."""
    return sum(1 + sum(map(_atom_weight, monomial)) for monomial, _ in a.terms)


def _atom_weight(atom: Atom) -> int:
    return 1 + sum(map(_weight, atom.operands)) if isinstance(atom, Opaque) else 1
