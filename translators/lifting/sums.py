"""Integers as numbers: what is added up to lengths and places does not wrap, whatever type it is added in."""

from __future__ import annotations

from intent import dtypes as d
from translators.algebra.polynomial import Polynomial, minimum, number
from translators.tile.expression import Expression


def summed(polynomial: Polynomial) -> Polynomial:
    """Sums and differences of what is read from memory, taken apart: lengths and places do not wrap."""
    return polynomial.rebuild(lambda atom: parts_of_sum(atom) if isinstance(atom, Expression) else None)


def parts_of_sum(node: Expression) -> Polynomial:
    """An integer as a number of whatever width: what is added up does not wrap."""
    match node.operation, node.arguments:
        case "pointwise", (left, right) if node.attribute[0] in ("add", "subtract") and node.dtype.is_integer:
            first, second = parts_of_sum(left), parts_of_sum(right)
            return first + second if node.attribute[0] == "add" else first - second
        case "constant", _ if node.dtype.is_integer:
            return number(int(node.attribute))
        case "pointwise", (left, right) if node.attribute[0] == "minimum" and node.dtype.is_integer:
            return minimum(parts_of_sum(left), parts_of_sum(right))
        case "cast", (inner,) if inner.dtype == d.index and node.dtype.bits >= d.i32.bits:
            return inner.polynomial
        case "cast", (inner,) if inner.dtype.is_integer and node.dtype.bits >= inner.dtype.bits:
            return parts_of_sum(inner)
        case _:
            return node.polynomial
