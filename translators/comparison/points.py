"""Parallel points that reach nothing that other points write: they may be taken together, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from translators.algebra.polynomial import Polynomial, atomic
from translators.logical.types import Memory, View
from translators.planning.demand import Demand
from translators.planning.sinks import Loop, Sink
from translators.tile.expression import Axis, Expression, walk


def independent(demand: Demand, points: Iterable[Axis]) -> set[Axis]:
    """The axes that are a coordinate, always the same one, of whatever is both written and read by their points."""
    if any(isinstance(memory, View) and memory.alias is not None for memory in demand.pinned):
        return set()
    return {axis for axis in points if all(_is_coordinate(demand, memory, axis) for memory in demand.pinned)}


def _is_coordinate(demand: Demand, memory: Memory, axis: Axis) -> bool:
    found: set[int] | None = None
    for coordinates in _places(demand, memory, axis):
        here = {position for position, each in enumerate(coordinates) if each == atomic(axis)}
        found = here if found is None else found & here
    return found is None or bool(found)


def _places(demand: Demand, memory: Memory, axis: Axis) -> Iterator[tuple[Polynomial, ...]]:
    """Where the points reach a memory."""
    within = [sink for sink in demand.sinks if axis in sink.parallel]
    yield from (sink.coordinates for sink in within if sink.memory == memory)
    loops = [loop for loop in demand.loops.values() if axis in loop.parallel]
    for node in walk(*_values(within), *_carried(loops)):
        if node.operation in ("load", "atomic"):
            place = node.attribute if node.operation == "load" else node.attribute.place
            if place.memory == memory:
                yield place.coordinates


def _values(sinks: Sequence[Sink]) -> Iterator[Expression]:
    for sink in sinks:
        yield sink.value
        yield from () if sink.predicate is None else (sink.predicate,)
        yield from (atom for each in sink.coordinates for atom in each.atoms() if isinstance(atom, Expression))


def _carried(loops: Sequence[Loop]) -> Iterator[Expression]:
    for loop in loops:
        yield from (each for each in (loop.low, loop.high, loop.condition, loop.live) if each is not None)
        for carry in loop.carries:
            yield from (each for each in (carry.initial, carry.update) if each is not None)
