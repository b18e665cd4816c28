"""Coordinates that count down, turned round: t := P - t wherever memory is reached at P - t."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from translators.algebra.polynomial import Atom, Polynomial, Remainder, atomic, floor_divide
from translators.lifting.context import Context
from translators.lifting.rewriting import replaced, structured, with_axis, with_node
from translators.lifting.sinks import Sink
from translators.tile.expression import Axis, Expression, walk


def flip(context: Context, sink: Sink) -> Sink | None:
    """A free axis of a store, or an axis of a reduction, that memory is only reached at from its end."""
    for axis in sink.free:
        end = _end(axis, [sink.offset.polynomial])
        if end is not None:
            joint = _turned(context, axis, end)
            axes = tuple(joint if each is axis else each for each in sink.axes)
            return replaced(context, sink, {axis: end - atomic(joint)}, axes)
    for node in structured(sink):
        for axis in node.attribute.axes:
            end = _end(axis, list(_offsets(node)))
            if end is not None:
                return with_node(context, sink, node, _flipped(context, node, axis, end))
    return None


def _turned(context: Context, axis: Axis, end: Polynomial) -> Axis:
    made = context.arena.axis(axis.name, end - axis.end + 1, end - axis.begin + 1)
    if axis in context.local:
        context.local.add(made)
    return made


def _flipped(context: Context, node: Expression, axis: Axis, end: Polynomial) -> Expression:
    joint = _turned(context, axis, end)
    return with_axis(context, node, axis, joint, end - atomic(joint))


def _offsets(node: Expression) -> Iterator[Polynomial]:
    return (load.arguments[0].polynomial for load in walk(*node.arguments) if load.operation == "load")


def _end(axis: Axis, offsets: Sequence[Polynomial]) -> Polynomial | None:
    """The coordinate P, the same in all offsets that have s*(P - axis), where they have the axis at all."""
    found: set[Polynomial] = set()
    for offset in offsets:
        stride = offset.coefficient(axis)
        if stride is None:
            return None
        if not stride.terms:
            continue
        if len(stride.terms) != 1 or stride.terms[0][1] >= 0:
            return None
        end = _multiples(offset, -stride)
        if end is None:
            return None
        found.add(end)
    return found.pop() if len(found) == 1 else None


def _multiples(offset: Polynomial, stride: Polynomial) -> Polynomial | None:
    """What the offset has of multiples of a stride that no coordinate changes."""
    made = Polynomial()
    for monomial, factor in offset.rebuild(_divided).terms:
        term = Polynomial(((monomial, factor),)).divided_by(stride)
        if term is not None and not any(isinstance(atom, Axis | Expression) for atom in term.atoms()):
            made = made + term
    return made if made.terms else None


def _divided(atom: Atom) -> Polynomial | None:
    """n % d as n - d*(n // d): with n it is a multiple of d."""
    if not isinstance(atom, Remainder):
        return None
    return atom.numerator - atom.denominator * floor_divide(atom.numerator, atom.denominator)
