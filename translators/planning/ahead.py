"""Loops whose next iterations' loads are under way while one iteration is computed.

Triton sees to the loads of matrix products by itself. Other loads it issues when they are wanted: an ordered loop then
waits for memory in every iteration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from translators.planning.regions import Region
from translators.planning.sinks import Loop
from translators.tile import program as tile
from translators.tile.expression import Axis, Expression, walk
from translators.tile.program import Statement

ITERATIONS, SLICES = 3, 2  # of which the loads are under way at a time
SHORT = 8  # iterations
MOST_BYTES = 65536  # of these loads: the least shared memory of a processor
STRAIGHT = (  # statements of a body without loops, barriers and descriptors
    tile.Accumulate, tile.Assign, tile.AssignResults, tile.BindAxis, tile.BindIndex, tile.BindMask, tile.Finish,
    tile.Remark, tile.Start, tile.StoreTile,
)  # fmt: skip


def under_way(region: Region, loop: Loop, lanes: Mapping[Axis, int | None]) -> int:
    """How many iterations' loads fit on chip; 0 if there are none, or they do not fit."""
    slices = {*loop.slices, *loop.whole_slices}
    loads = [node for node in region.nodes if node.operation == "load"]
    loads = [node for node in loads if loop.token in node.loops or not slices.isdisjoint(node.axes)]
    count = SLICES if loop.slices else ITERATIONS
    size = sum(math.prod(lanes.get(axis) or 1 for axis in node.axes) * node.dtype.bits // 8 for node in loads)
    pays = loop.slices or _is_long(loop)
    return count if loads and pays and size * count <= MOST_BYTES else 0


def in_order(nodes: Sequence[Expression], body: Sequence[Statement]) -> bool:
    """Whether loads may run ahead of the body's stores: it is straight, and writes none of the memory that it reads.
    No load waits for what another gives.
    """
    stores = [each for each in body if isinstance(each, tile.StoreTile)]
    plain = all(isinstance(each, STRAIGHT) for each in body) and all(each.action == "store" for each in stores)
    written = {each.memory for each in stores}
    loads = [node for node in nodes if node.operation == "load"]
    known = not any(below.operation == "load" for node in loads for each in node.operands for below in walk(each))
    return plain and known and bool(loads) and written.isdisjoint(node.attribute.memory for node in loads)


def _is_long(loop: Loop) -> bool:
    """A counted loop of which it is not known that it ends before running ahead pays."""
    if loop.low is None or loop.high is None:
        return False
    length = (loop.high.polynomial - loop.low.polynomial).constant
    return length is None or length > SHORT
