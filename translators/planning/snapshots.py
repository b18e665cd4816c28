"""Reads that a store of the same program would overwrite before they happen.

A store along several tiles, or several points, of one program must not overwrite what a later one still reads: the
values are then kept in scratch memory first. What is read in a loop of its own before the store's loop begins is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

from translators.planning.demand import Demand
from translators.planning.hazards import crosses, separating
from translators.planning.layouts import Layout
from translators.planning.regions import Region
from translators.planning.sinks import MustHold, Sink, roots
from translators.tile.expression import Axis, Expression, walk

Question = Callable[[Expression], bool]


def check_snapshots(demand: Demand, region: Region, layout: Layout, is_barrier: Question) -> None:
    """Raises MustHold for reads that have to be kept elsewhere."""
    for sink, reader in product(region.sinks, repeat=2):
        if reader.order < sink.order:
            continue
        looped = _looped(layout, sink.axes)
        for load, held in _loads_inside(reader, looped, is_barrier):
            at_its_place = load.attribute.pinned and not _looped(layout, load.axes)
            if at_its_place or demand.issued[load] >= sink.order or not crosses(sink, load):
                continue
            kept_apart = separating(sink, load.attribute)
            if _looped(layout, {*sink.axes, *load.axes} - kept_apart):
                values = demand.results.get(held, ())
                raise MustHold(
                    values if values and not demand.held & {*values} else demand.readers.get(load, ()), sink.span
                )


def _looped(layout: Layout, axes: Iterable[Axis]) -> frozenset[Axis]:
    """Axes that one program takes in more than one step."""
    return frozenset(axis for axis in axes if layout.roles[axis] not in ("program", "resident"))


def _loads_inside(
    reader: Sink, looped: frozenset[Axis], is_barrier: Question
) -> Iterator[tuple[Expression, Expression]]:
    """Loads that happen within the loops of the effect, each with what can be held for it: itself, or a reduction."""
    outside = set(walk(*roots(reader), stop=is_barrier))
    for node in outside:
        if node.operation == "load":
            yield node, node
        elif is_barrier(node) and node.axes & looped:
            below = walk(*node.arguments, stop=lambda inner: is_barrier(inner) and not inner.axes & looped)
            yield from ((load, node) for load in below if load.operation == "load")
