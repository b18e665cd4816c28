"""A fold's update in slices that no guard cuts: the same update, with what holds in all of the slice taken for true."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from translators.algebra.polynomial import Atom, Polynomial, atomic
from translators.planning.neutral import holds
from translators.planning.sinks import Loop
from translators.tile.expression import Arena, Axis, Expression, walk
from translators.tile.substitution import Rebuilding


def worth_two_loops(updates: Sequence[Expression], loop: Loop) -> bool:
    """A second loop without guards pays where a slice is more than loads, and no other loop stands inside."""
    nodes = list(walk(*updates))
    if loop.single or any(node.operation == "carried" and loop.token in node.attribute[3] for node in nodes):
        return False
    if any(node.operation == "atomic" or (node.operation == "load" and node.attribute.pinned) for node in nodes):
        return False
    return bool(loop.limits.nonnegative) or any(node.operation == "contract" for node in nodes)


def whole_copies(arena: Arena, loop: Loop) -> Rebuilding:
    """What rebuilds an update for whole slices; their axes are `loop.whole_slices`."""
    renamed: dict[Atom, Polynomial] = {}
    for axis in loop.slices:
        twin = Axis(axis.name, axis.begin, axis.end, arena.serial(), slices=axis.slices, whole=True)
        loop.whole_slices.append(twin)
        renamed[axis] = atomic(twin)
    decided = partial(_decided, arena, loop.limits.nonnegative)
    return Rebuilding(arena, renamed, decided, partial(_simplified, arena))


def _decided(arena: Arena, limits: Sequence[Polynomial], node: Expression) -> Expression | None:
    if node.operation != "pointwise":
        return None
    value = holds(node, limits)
    return None if value is None else arena.make("constant", node.dtype, (), value)


def _simplified(arena: Arena, node: Expression) -> Expression | None:
    """Selects, conjunctions and guarded loads of which a condition is known."""
    match node.operation:
        case "select":
            condition, true, false = node.arguments
            truth = _truth(condition)
            return None if truth is None else true if truth else false
        case "load" if node.arguments:
            truth = _truth(node.arguments[0])
            if truth is None:
                return None
            return arena.make("load", node.dtype, (), node.attribute) if truth else node.arguments[1]
        case "pointwise" if node.attribute[0] in ("and", "or"):
            return _connective(arena, node)
        case _:
            return None


def _connective(arena: Arena, node: Expression) -> Expression | None:
    absorbing = node.attribute[0] == "or"  # true or x is true, false and x is false
    for condition, other in (node.arguments, node.arguments[::-1]):
        truth = _truth(condition)
        if truth is not None:
            return condition if truth == absorbing else other
    return None


def _truth(condition: Expression) -> bool | None:
    return bool(condition.attribute) if condition.operation == "constant" else None
