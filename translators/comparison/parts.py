"""Which axes of one program's array are which of the other's.

An axis of 64 elements may be reached as 32 pairs: element c is element c % 2 of pair c // 2. That is one layout for
every stride that the axis may have, if the stride of the pairs is twice that of their elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, floor_divide, number, remainder
from translators.comparison.sides import Side
from translators.logical.types import View

Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two views whose axes correspond in turn: one axis of each, or one axis of one and several of the other."""

    one: View
    other: View
    groups: tuple[tuple[Axes, Axes], ...]

    def axes(self, ordinal: int) -> Axes:
        """Those of one view that count."""
        return tuple(axis for group in self.groups for axis in group[ordinal])

    def parts(self, ordinal: int) -> dict[int, Axes]:
        """Of each axis of one view that is several of the other the extents of these."""
        other = (self.one, self.other)[1 - ordinal]
        extents = {group[ordinal][0]: _extents(other, group[1 - ordinal]) for group in self.groups}
        return {axis: found for axis, found in extents.items() if found is not None and len(found) > 1}

    def nested(self, ordinal: int) -> set[int]:
        """The axes of one view that have a stride because of the next one in their group."""
        return {axis for group in self.groups for axis in group[ordinal][:-1]}


def aligned(sides: tuple[Side, Side], one: View, other: View) -> Aligned | None:
    """None if the views do not have as many axes, in parts or not."""
    if sides[0].language == sides[1].language:
        axes = range(max(one.rank, other.rank))
        return Aligned(one, other, tuple(((axis,), (axis,)) for axis in axes)) if one.rank == other.rank else None
    ones, others = long_axes(one), long_axes(other)
    if len(ones) == len(others):
        return Aligned(one, other, tuple(((mine,), (theirs,)) for mine, theirs in zip(ones, others, strict=True)))
    origin = sides[0].origin or sides[1].origin
    whole, parted = (one, other) if sides[0].origin is None else (other, one)
    assert origin is not None
    found = _groups(whole, parted, origin.strides[parted.name])
    if found is None:
        return None
    return Aligned(one, other, tuple(pair if whole is one else pair[::-1] for pair in found))


def long_axes(view: View) -> Axes:
    """The axes that have not just one element by declaration."""
    return tuple(axis for axis, extent in enumerate(view.shape) if extent.constant != 1)


def _groups(whole: View, parted: View, strides: Sequence[Polynomial]) -> list[tuple[Axes, Axes]] | None:
    """Only axes of known extents have parts. `strides` are those of the view in parts."""
    waiting = long_axes(parted)
    found: list[tuple[Axes, Axes]] = []
    for axis in long_axes(whole):
        length = 1
        while length < len(waiting) and _is_short(whole, axis, parted, waiting[:length]):
            length += 1
        group, waiting = waiting[:length], waiting[length:]
        if not group or (length > 1 and not _fits(whole, axis, parted, group, strides)):
            return None
        found.append(((axis,), group))
    return None if waiting else found


def _is_short(whole: View, axis: int, parted: View, group: Axes) -> bool:
    wanted, extents = whole.shape[axis].constant, _extents(parted, group)
    return wanted is not None and extents is not None and prod(extents) < wanted


def _fits(whole: View, axis: int, parted: View, group: Axes, strides: Sequence[Polynomial]) -> bool:
    extents = _extents(parted, group)
    if extents is None or prod(extents) != whole.shape[axis].constant:
        return False
    return all(strides[outer] == strides[inner] * parted.shape[inner] for outer, inner in pairwise(group))


def _extents(view: View, axes: Axes) -> Axes | None:
    extents = [extent.constant for extent in (view.shape[axis] for axis in axes)]
    known = tuple(each for each in extents if each is not None)
    return known if len(known) == len(axes) else None


def parted(coordinate: Polynomial, extents: Axes) -> Iterator[tuple[Polynomial, Polynomial]]:
    """The coordinates of an element within parts of these extents, outermost first, each with its extent.

    The outermost is within its extent where the element is within all, and the others always are.
    """
    for position, extent in enumerate(extents):
        inner = prod(extents[position + 1 :])
        within = floor_divide(coordinate, number(inner)) if inner > 1 else coordinate
        yield (within if position == 0 else remainder(within, number(extent))), number(extent)
