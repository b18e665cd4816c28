"""Pairs of a value and its coordinate, of which a function picks the larger value, as the position of the maximum.

    pick over lanes of (f(lane), lane)                               f's maximum, and where it is first reached
    pick over lanes of (max of f over blocks,                        the same of all blocks: f's maximum over
        B*(its first block) + lane, or 0 if the maximum is -inf)     c = B*block + lane, and the first such c

The function is tried on numbers in every order, so that it is known to pick the lower coordinate of equal values.
"""

from __future__ import annotations

from intent import dtypes as d
from intent.records import replace
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.lifting.choices import position_of
from translators.lifting.context import Context
from translators.lifting.groups import one_axis
from translators.lifting.positions import is_position
from translators.lifting.prefixes import alike
from translators.lifting.rewriting import occurs, reductions, with_node
from translators.lifting.sinks import Sink
from translators.tile.expression import Axis, Expression
from translators.tile.substitution import Rebuilding, as_index


def located(context: Context, sink: Sink) -> Sink | None:
    for node in reductions(sink):
        if node.operation != "reduce" or node.attribute.combine is None or len(node.attribute.axes) != 1:
            continue
        kind = position_of(node.attribute.combine)
        made = None if kind is None else _picked(context, node, kind)
        if made is not None:
            context.ledger.add("proven", f"{node.attribute.combine.name} picks where {kind} is first reached")
            return with_node(context, sink, node, made)
    return None


def _picked(context: Context, node: Expression, kind: str) -> Expression | None:
    value, place = node.arguments
    (lane,) = node.attribute.axes
    if node.attribute.result == 0:
        return _reduced(context, kind, lane, value, node)
    coordinate = _coordinate(place)
    shift = None if coordinate is None else coordinate - atomic(lane)
    if shift is not None and not occurs(lane, (), (as_index(context.arena, shift),)):
        return _position(context, kind, lane, value, (node, shift))
    return _of_blocks(context, node, kind)


def _of_blocks(context: Context, node: Expression, kind: str) -> Expression | None:
    """Where each lane has its own maximum over all blocks."""
    value, place = node.arguments
    (lane,) = node.attribute.axes
    if place.operation == "cast":
        (place,) = place.arguments
    if place.operation != "select" or value.operation != "reduce" or value.attribute.kind != kind:
        return None
    never, least, there = place.arguments
    first, coordinate = _coordinate(least), _coordinate(there)
    if first is None or coordinate is None or not _is_never(context, never, value, kind):
        return None
    own = next((each for each in coordinate.atoms() if _is_place(context, each, value)), None)
    if not isinstance(own, Expression):
        return None
    (block,) = own.attribute.axes
    found = one_axis(context, block, lane)
    if found is None:
        return None
    joint, mapping = found
    rebuilding = Rebuilding(context.arena, mapping)
    (body,) = map(rebuilding.expression, own.arguments)
    shift = rebuilding.polynomial(coordinate.substitute({own: atomic(block)})) - atomic(joint)
    if any(occurs(axis, (), (body, as_index(context.arena, shift))) for axis in (block, lane)):
        return None
    if joint in shift.atoms() or first != joint.begin + shift:
        return None
    context.local.add(joint)
    return _position(context, kind, joint, body, (node, shift))


def _is_never(context: Context, condition: Expression, value: Expression, kind: str) -> bool:
    """Whether it says that the extremum is what it is of nothing."""
    if condition.operation != "pointwise" or condition.attribute[0] != "equal":
        return False
    nothing = float("-inf" if kind == "max" else "inf")
    return any(
        other.operation == "constant" and other.attribute == nothing and alike(context.arena, each, value)
        for each, other in (condition.arguments, condition.arguments[::-1])
    )


def _is_place(context: Context, atom: object, value: Expression) -> bool:
    """Whether it is where the extremum is first reached."""
    if not is_position(atom) or not isinstance(atom, Expression) or len(atom.attribute.axes) != 1:
        return False
    extremum = replace(atom.attribute, kind=atom.attribute.kind.removeprefix("arg_"))
    return alike(context.arena, context.arena.make("reduce", value.dtype, atom.arguments, extremum), value)


def _position(
    context: Context, kind: str, axis: Axis, body: Expression, of: tuple[Expression, Polynomial]
) -> Expression | None:
    """The coordinate as the node has it, if there is any: of no elements there is no position."""
    node, shift = of
    if not context.facts.positive(axis.extent):
        if not context.invariant(axis.extent):
            return None
        context.ledger.add("assumed", f"{axis.extent!r} is at least 1: a position is one of an element")
        context.facts = context.facts.assuming(axis.extent - 1)
    place = _reduced(context, f"arg_{kind}", axis, body, node)
    made = as_index(context.arena, place.polynomial + shift)
    return made if node.dtype == d.index else context.arena.make("cast", node.dtype, (made,))


def _reduced(context: Context, kind: str, axis: Axis, body: Expression, node: Expression) -> Expression:
    attribute = replace(node.attribute, kind=kind, axes=(axis,), result=0, combine=None)
    dtype = d.index if kind.startswith("arg_") else body.dtype
    return context.arena.make("reduce", dtype, (body,), attribute)


def _coordinate(node: Expression) -> Polynomial | None:
    """An integer that is a coordinate, which does not wrap on its way to another type."""
    while node.operation == "cast" and node.dtype.is_integer and node.dtype.bits >= d.i32.bits:
        (node,) = node.arguments
    if node.operation == "constant" and node.dtype.is_integer and node.dtype != d.boolean:
        return number(node.attribute)
    return node.polynomial if node.dtype == d.index else None
