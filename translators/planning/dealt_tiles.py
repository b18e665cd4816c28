"""Rows whose number data decide, such as those of a group: their tiles are dealt out to several programs.

One program for each group would walk through all of its tiles, and groups of unequal length leave processors waiting.
Of PARTS programs each takes every PARTS-th tile instead. That is for rows of matrix products, of which one tile takes
so long that programs which find none do not count: 0.003 ms for 1,800 of them. Where all rows together are few, there
is nothing to deal out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from intent.records import replace
from translators.algebra.polynomial import Polynomial
from translators.logical.types import Buffer
from translators.planning.demand import Demand
from translators.planning.layouts import Choice, Layout
from translators.planning.product_layouts import is_dot
from translators.planning.ranges import known_at_launch
from translators.planning.regions import Region
from translators.planning.sinks import Context
from translators.tile.expression import Axis

PARTS = 8  # programs for the rows of one group
LEAST_TILES = 4  # of all groups together


def with_dealt_tiles(demand: Demand, regions: Sequence[Region], choices: Iterable[Choice]) -> Iterator[Choice]:
    """Each choice with its tiles dealt out, if there are several, and with one program for them."""
    for choice in choices:
        found = _dealt(demand, regions[0], choice.layouts[0]) if len(regions) == 1 else None
        if found is not None and not choice.described:
            axis, rows = found
            choice = replace(choice, dealt=axis)
            least = LEAST_TILES * (choice.layouts[0].lanes[axis] or 1)
            yield replace(choice, suitable=(*choice.suitable, (rows, ">=", least)), parts=PARTS)
        yield choice


def _dealt(demand: Demand, region: Region, layout: Layout) -> tuple[Axis, Polynomial] | None:
    """The axis whose tiles are dealt out, and how many rows all groups have at most."""
    if region.ordered or region.exposed or _uses_scratch(region):
        return None
    for axis in region.axes:
        if layout.roles[axis] != "streamed" or not layout.lanes[axis] or not _is_of_tiles(region, axis):
            continue
        sink = region.sinks[0]
        rows = demand.most(axis.extent, Context(sink.parallel, sink.loops, sink.predicate))
        if not known_at_launch(axis.extent) and rows is not None:
            return axis, rows
    return None


def _is_of_tiles(region: Region, axis: Axis) -> bool:
    """Every effect is one of a tile of these rows of a product, and no tile needs what another gives."""
    rows = any(axis in node.axes and is_dot(node, region) for node in region.contractions)
    once = all(sink.action != "issued" and axis in sink.axes for sink in region.sinks)
    known = any(node.operation == "atomic" for node in region.nodes)  # what updates found in memory
    return rows and once and not known and axis not in region.bound and axis.slices is None


def _uses_scratch(region: Region) -> bool:
    """Programs of one group would share it."""
    loads = (node.attribute.memory for node in region.nodes if node.operation == "load")
    return any(isinstance(memory, Buffer) for memory in (*loads, *(sink.memory for sink in region.sinks)))
