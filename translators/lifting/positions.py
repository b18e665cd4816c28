"""Where the extremum of a row stands."""

from __future__ import annotations

from intent import dtypes as d
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, number
from translators.tile.expression import Arena, Expression
from translators.tile.substitution import as_index

KINDS = ("arg_max", "arg_min")


def is_position(node: object) -> bool:
    return isinstance(node, Expression) and node.operation == "reduce" and node.attribute.kind in KINDS


def with_positions(facts: Facts, polynomial: Polynomial) -> Facts:
    """Also know the ranges of the positions that it mentions: they are coordinates of what was reduced."""
    for atom in polynomial.atoms():
        if isinstance(atom, Expression) and is_position(atom):
            (axis,) = atom.attribute.axes
            facts = facts.with_bounds(atom, axis.begin, axis.end - 1)
    return facts


def as_coordinate(arena: Arena, node: Expression) -> Expression:
    """A coordinate as itself, if that is what the integer is."""
    inner = node
    while inner.operation == "cast" and inner.dtype.bits >= d.i32.bits and inner.dtype.is_integer:
        (inner,) = inner.arguments
    if inner.operation == "constant" and inner.dtype.is_integer and inner.dtype != d.boolean:
        return as_index(arena, number(inner.attribute))
    return inner if inner.dtype == d.index else node
