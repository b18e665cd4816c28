"""Recurrences cut to what is observed: states to the lanes that are read, loops to the iterations that count."""

from __future__ import annotations

from collections.abc import Iterator

from translators.algebra.polynomial import Polynomial, atomic, minimum
from translators.lifting.context import Context
from translators.lifting.groups import with_count
from translators.lifting.rewriting import bound_by, conjuncts, like, replaced
from translators.lifting.sinks import Sink, State
from translators.tile.expression import Axis, Expression, walk


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


def truncate(context: Context, sink: Sink) -> Sink | None:
    """A store within a loop that leaves out the last iterations needs none of them."""
    for recurrence in sink.recurrences:
        axis = recurrence.axis
        for condition in conjuncts(sink.mask) if axis in sink.axes else ():
            bound = bound_by(condition, axis)
            if bound is None or not bound[0] or any(isinstance(atom, Expression) for atom in bound[1].atoms()):
                continue
            counted = _counted(context, sink, bound[1])
            if counted is not None:
                return counted
            made = like(context, axis, axis.begin, minimum(axis.end, bound[1]))
            axes = tuple(made if each is axis else each for each in sink.axes)
            changed = replaced(context, sink, {axis: Polynomial((((made,), 1),))}, axes)
            return changed.with_axes({axis: made})
    return None


def _counted(context: Context, sink: Sink, bound: Polynomial) -> Sink | None:
    """As many chunks as there are iterations for: the bound is E - B*chunk."""
    for chunk in sink.free:
        step = bound.coefficient(chunk)
        if step is not None and step.terms and context.chosen(chunk.end):
            return with_count(context, sink, chunk, (-step, bound - step * atomic(chunk)))
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
