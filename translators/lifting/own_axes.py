"""Axes of states: as long as what is ever read of them."""

from __future__ import annotations

from collections.abc import Iterator

from translators.algebra.polynomial import Polynomial
from translators.lifting.context import Context
from translators.lifting.rewriting import like, replaced
from translators.lifting.sinks import Sink, State
from translators.tile.expression import Axis, walk


def restrict_own(context: Context, sink: Sink) -> Sink | None:
    """Lanes of a state that no one reads, neither the store nor another lane, need not be carried."""
    for state in sink.states:
        for position, axis in enumerate(state.own):
            ends = {_end(each, axis) for each in _reads(sink, state, position)} - {axis.end}
            if len(ends) != 1 or (end := ends.pop()) is None or context.mentions_blocks(end):
                continue
            made = like(context, axis, axis.begin, end)
            changed = replaced(context, sink, {axis: Polynomial((((made,), 1),))}, sink.axes).with_axes({axis: made})
            context.ledger.add("proven", f"{state.name}: only the first {end!r} of {axis.end!r} lanes are read")
            return changed
    return None


def _reads(sink: Sink, state: State, position: int) -> Iterator[Polynomial]:
    """Where this state is read along one of its own axes, but for its own update at the same place."""
    for node in walk(*sink.roots):
        if node.operation == "state" and node.attribute == state.place:
            at = node.arguments[position].polynomial
            if at.atom is not state.own[position]:
                yield at


def _end(coordinate: Polynomial, axis: Axis) -> Polynomial | None:
    at = coordinate.atom
    return at.end if isinstance(at, Axis) and at.begin == axis.begin else None
