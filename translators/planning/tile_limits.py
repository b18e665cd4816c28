"""How large tiles may be: what a program holds at once fits in its registers, and Triton has a limit of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from translators.planning.product_layouts import is_dot, least_lanes
from translators.planning.regions import Region, axes_at
from translators.tile.expression import Axis, Expression
from translators.tile.program import Role

HELD_TILE = 32768  # elements of the largest tile that a plan has by choice: half the registers of a processor
LARGEST_TILE = 1 << 20  # elements of the largest tile that Triton takes

Lanes = Mapping[Axis, int | None]


def tile_elements(region: Region, lanes: Lanes) -> int:
    """Elements of the region's largest tile."""
    return max((_elements(axes, lanes) for axes in _tiles(region)), default=1)


def narrowed(region: Region, roles: Mapping[Axis, Role], lanes: Lanes) -> dict[Axis, int | None]:
    """Fewer lanes of axes that need not be on chip, until tiles fit beside those that must be, or none are left."""
    found = dict(lanes)
    dots = [node for node in region.contractions if is_dot(node, region)]
    multiplied = {axis for node in dots for argument in node.arguments for axis in argument.axes}
    least = {axis: least_lanes(axis, dots) if axis in multiplied else 1 for axis in region.axes}
    for axes in _tiles(region):
        while _elements(axes, found) > HELD_TILE:
            free = [
                axis for axis in axes if roles[axis] in ("program", "streamed") and (found[axis] or 0) > least[axis]
            ]
            if not free:
                break
            widest = max(free, key=lambda axis: (found[axis] or 0, region.order[axis], axis.serial))
            half = (found[widest] or 0) // 2
            found[widest] = half if half > 1 else None
    return found


def _tiles(region: Region) -> Sequence[frozenset[Axis]]:
    """The axes of each tile. A product that is no `tl.dot` is one of elements before it is summed."""
    found = dict.fromkeys(frozenset(node.axes) for node in region.nodes)
    for node in region.contractions:
        if not is_dot(node, region):
            found[_multiplied(node)] = None
    return list(found)


def _multiplied(node: Expression) -> frozenset[Axis]:
    return frozenset(axes_at(node)).union(*(argument.axes for argument in node.arguments))


def _elements(axes: frozenset[Axis], lanes: Lanes) -> int:
    return math.prod(lanes.get(axis) or 1 for axis in axes)
