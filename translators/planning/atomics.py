"""Atomic updates: which of them Triton has, and the old values they give."""

from __future__ import annotations

from intent.dtypes import boolean, u8, u16, u32, u64
from intent.records import replace
from translators.logical import program as lp
from translators.logical.program import Value
from translators.planning.pull import Pull
from translators.planning.sinks import Coordinates, MustHold, Sink
from translators.tile.expression import Atomic, Expression, Place

_COMBINES = {"add": "add", "maximum": "max", "minimum": "min", "and": "and", "or": "or", "xor": "xor"}


def combining(scatter: lp.Scatter) -> lp.AtomicUpdate:
    """A scatter whose repeated destinations combine, as atomic updates in any order."""
    if scatter.combine is None:
        raise AssertionError("a scatter to distinct destinations is a write")
    action = _COMBINES[scatter.combine]
    return lp.AtomicUpdate(action, scatter.memory, scatter.relation, (scatter.value,), "relaxed", (), scatter.span)


def issued(pull: Pull, sink: Sink, operands: tuple[Expression, ...]) -> Sink:
    """The update as a value that is computed exactly once, at its place in the program."""
    within = tuple(loop.token for loop in sink.loops)
    guard = (sink.predicate,) if sink.predicate is not None else ()
    place = Place(sink.memory, sink.coordinates, sink.order, within, sink.assumed)
    attribute = Atomic(place, sink.action, sink.semantics, sink.axes, bool(guard))
    node = pull.arena.make("atomic", sink.memory.dtype, operands + guard, attribute)
    pull.issued[node] = sink.order
    return replace(sink, value=node, action="issued", predicate=None)


def old_value(
    pull: Pull, sink: Sink, positions: Coordinates, result: Value, operands: tuple[Expression, ...], at: Coordinates
) -> Expression:
    """A result of the update at the positions it was made for; `success` of a compare_exchange is old == expected."""
    if at != positions:
        raise MustHold(pull.readers[sink.value], sink.span)
    return pull.indexed(sink.value) if result.position == 0 else same_bits(pull, sink.value, operands[0])


def same_bits(pull: Pull, old: Expression, expected: Expression) -> Expression:
    """Whether a compare_exchange has happened."""
    parts = (_bits(pull, old), _bits(pull, expected))
    return pull.arena.make("pointwise", boolean, parts, ("equal", False, False))


def _bits(pull: Pull, value: Expression) -> Expression:
    """What a compare and swap compares: -0.0 is not 0.0, and a NaN is itself."""
    carrier = {8: u8, 16: u16, 32: u32, 64: u64}[value.dtype.bits] if value.dtype.is_float else value.dtype
    return value if carrier == value.dtype else pull.arena.make("bitcast", carrier, (value,))
