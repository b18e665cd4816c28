"""Atomic updates: which of them Triton has, and the old values they give."""

from __future__ import annotations

from intent.dtypes import boolean
from intent.records import replace
from translators.logical import program as lp
from translators.logical.program import Value
from translators.planning.pull import Pull
from translators.planning.sinks import Coordinates, Sink, unsupported
from translators.tile.expression import Atomic, Expression, Place

_COMBINES = {"add": "add", "maximum": "max", "minimum": "min", "and": "and", "or": "or", "xor": "xor"}


def combining(scatter: lp.Scatter) -> lp.AtomicUpdate:
    """A scatter whose repeated destinations combine, as atomic updates in any order."""
    if scatter.combine is None:
        raise AssertionError("a scatter to distinct destinations is a write")
    action = _COMBINES[scatter.combine]
    return lp.AtomicUpdate(action, scatter.memory, scatter.relation, (scatter.value,), "relaxed", (), scatter.span)


def check_supported(update: lp.AtomicUpdate) -> None:
    """Triton updates 32- and 64-bit integers and, by adding or exchanging, floats of 16 bits or more."""
    dtype = update.memory.dtype
    if dtype.kind == "bool" or (not dtype.is_float and dtype.bits < 32) or dtype.bits < 16:
        raise unsupported(f"Triton has no atomic update of {dtype.name}", update.span, "use a wider dtype")
    if dtype.is_float and update.action in ("max", "min"):
        raise unsupported(f"an atomic {update.action} of floats ignores NaN in Triton", update.span)
    if update.action == "load" and update.order != "relaxed" and dtype.is_float:
        raise unsupported("an ordered atomic load of a float is not lowered yet", update.span)
    if dtype.bits == 16 and update.action != "add":
        raise unsupported(f"Triton only adds {dtype.name} atomically", update.span)


def issued(pull: Pull, sink: Sink, operands: tuple[Expression, ...]) -> Sink:
    """The update as a value that is computed exactly once, at its place in the program."""
    if sink.action == "compare_exchange" and sink.predicate is not None:
        raise unsupported("a conditional compare_exchange is not lowered yet", sink.span)
    within = tuple(loop.token for loop in sink.loops)
    attribute = Atomic(Place(sink.memory, sink.coordinates, sink.order, within), sink.action, sink.semantics, sink.axes)
    guard = (sink.predicate,) if sink.predicate is not None else ()
    node = pull.arena.make("atomic", sink.memory.dtype, operands + guard, attribute)
    pull.issued[node] = sink.order
    return replace(sink, value=node, action="issued", predicate=None)


def old_value(
    pull: Pull, sink: Sink, positions: Coordinates, result: Value, operands: tuple[Expression, ...], at: Coordinates
) -> Expression:
    """A result of the update at the positions it was made for; `success` of a compare_exchange is old == expected."""
    if at != positions:
        raise unsupported("old values of an atomic are used at other positions than its own", sink.span)
    if result.position == 0:
        return pull.indexed(sink.value)
    parts = (sink.value, operands[0])
    return pull.arena.make("pointwise", boolean, parts, ("equal", False, False))
