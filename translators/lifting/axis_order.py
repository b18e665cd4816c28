"""The order of tensor axes: that of memory."""

from __future__ import annotations

from collections.abc import Sequence

from translators.algebra.polynomial import Polynomial
from translators.lifting.loop_choice import axes_of
from translators.tile.expression import LOADS, Axis, Expression, having, walk


def in_memory_order(placed: Sequence[Axis], roots: Sequence[Expression]) -> list[Axis]:
    """More axes among those that are placed, as the loads with the most coordinates have them."""
    made = list(placed)
    loads = list(having(LOADS, *roots))
    for axes in (
        *(_product_axes(node) for node in walk(*roots) if node.operation == "contract"),
        *(_load_axes(load) for load in sorted(loads, key=lambda node: -len(node.attribute.coordinates))),
    ):
        for position, axis in enumerate(axes):
            if axis not in made:
                before = [made.index(each) for each in axes[:position] if each in made]
                after = [made.index(each) for each in axes[position + 1 :] if each in made]
                made.insert(max(before) + 1 if before else min(after, default=len(made)), axis)
    return made


def stored_order(coordinate: Polynomial) -> list[Axis]:
    """The axes of a coordinate; of one that is read from memory, in the order that it is read in."""
    atom = coordinate.atom
    return in_memory_order([], (atom,)) if isinstance(atom, Expression) else list(axes_of(coordinate))


def _load_axes(load: Expression) -> list[Axis]:
    return [axis for coordinate in load.attribute.coordinates for axis in axes_of(coordinate)]


def _product_axes(node: Expression) -> list[Axis]:
    """Rows of the left operand, then columns of the right one."""
    return [axis for operand in node.arguments for axis in in_memory_order([], (operand,)) if axis in node.axes]
