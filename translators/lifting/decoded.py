"""Axes of reductions that are taken apart: one that counts only as v // D and v % D is two, if D divides its range;
and bounds of what is taken apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent import dtypes as d
from intent.records import replace
from translators.algebra.polynomial import Polynomial, Quotient, Remainder, atomic, number
from translators.lifting.context import Context, atoms_of, with_axes
from translators.lifting.rewriting import conjunction, conjuncts, structured, with_axis, with_node
from translators.lifting.simplification import Simplifier
from translators.lifting.sinks import Sink
from translators.tile.expression import Axis, Expression, having
from translators.tile.substitution import as_index

INDICES: Final = frozenset(("index",))


def split_bound(context: Context, sink: Sink) -> Sink | None:
    for node in structured(sink):
        for axis in node.attribute.axes if node.attribute.combine is None else ():
            for divisor in _divisors(node, axis):
                made = _split(context, sink, node, axis, divisor)
                if made is not None:
                    context.ledger.add("proven", f"{axis.name}: two coordinates of the reduction, {divisor!r} apart")
                    return with_node(context, sink, node, made)
    return None


def _divisors(node: Expression, axis: Axis) -> Iterator[Polynomial]:
    """What the axis is divided by, where nothing else is part of what is divided; the largest numbers first, whose
    remainders may be coordinates as they are.
    """
    bounds = (bound for each in node.attribute.axes for bound in (each.begin, each.end))
    atoms = (*atoms_of(*node.arguments), *(atom for bound in bounds for atom in bound.atoms()))
    divided = (atom for atom in atoms if isinstance(atom, Quotient | Remainder) and atom.numerator == atomic(axis))
    divisors = dict.fromkeys(atom.denominator for atom in divided)
    yield from sorted(divisors, key=lambda divisor: (-(divisor.constant or 0), repr(divisor)))


def _split(context: Context, sink: Sink, node: Expression, axis: Axis, divisor: Polynomial) -> Expression | None:
    whole = axis.end.divided_by(divisor)
    if _by_itself(node, axis):
        return None
    if axis.begin.terms or whole is None or any(isinstance(atom, Axis) for atom in divisor.atoms()):
        return None
    outer = context.arena.axis(axis.name, number(0), whole)
    inner = context.arena.axis(f"{axis.name}_rest", number(0), divisor)
    moved = with_axis(context, node, axis, outer, atomic(outer) * divisor + atomic(inner))
    axes = tuple(part for each in moved.attribute.axes for part in ((each, inner) if each is outer else (each,)))
    made = context.arena.make(node.operation, node.dtype, moved.arguments, replace(node.attribute, axes=axes))
    facts = with_axes(context.facts, sink.every_axis).assuming(divisor - 1)  # else nothing is reduced
    simpler = Simplifier(context.arena, facts).expression(made)
    divided = [each for each in atoms_of(simpler) if isinstance(each, Quotient | Remainder)]
    left = [each.numerator for each in divided if each.denominator == divisor]
    return None if any({outer, inner} & set(each.atoms()) for each in left) else simpler


def _by_itself(node: Expression, axis: Axis) -> bool:
    """Whether the axis is a coordinate, or part of one, and not only its quotients and remainders are."""
    counted = (each.attribute for each in having(INDICES, *node.arguments))
    bounds = (bound for each in node.attribute.axes for bound in (each.begin, each.end))
    return any(axis in monomial for each in (*counted, *bounds) for monomial, _ in each.terms)


def undivide(context: Context, sink: Sink) -> Sink | None:
    """A store up to x // D < E is one up to x < E*D: what a program divides by is not 0."""
    every = list(conjuncts(sink.mask))
    for place, condition in enumerate(every):
        made = _undivided(context, condition)
        if made is not None:
            return replace(sink, mask=conjunction(context.arena, [*every[:place], made, *every[place + 1 :]]))
    return None


def _undivided(context: Context, condition: Expression) -> Expression | None:
    if condition.operation != "pointwise" or condition.attribute[0] != "less":
        return None
    if condition.arguments[0].dtype != d.index:
        return None
    difference = condition.arguments[0].polynomial - condition.arguments[1].polynomial
    for atom in difference.atoms():
        if not isinstance(atom, Quotient) or difference.coefficient(atom) != number(1):
            continue
        divisor, end = atom.denominator, atomic(atom) - difference
        divides(context, divisor)
        if context.invariant(end) and not context.invariant(atom.numerator) and context.facts.positive(divisor):
            operands = (as_index(context.arena, atom.numerator - end * divisor), as_index(context.arena, number(0)))
            return context.arena.make("pointwise", condition.dtype, operands, condition.attribute)
    return None


def divides(context: Context, divisor: Polynomial) -> None:
    """A program divides by it, so none of its factors is 0: with no program there is nothing to store either."""
    if len(divisor.terms) == 1:
        for factor in divisor.terms[0][0]:
            if context.facts.nonnegative(atomic(factor)) and not context.facts.positive(atomic(factor)):
                context.facts = context.facts.with_bounds(factor, low=1)
