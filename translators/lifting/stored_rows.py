"""Rows that programs store one after the other: `out[R*p + j]`, where j stays below R in every launch that is no race.

Where j reached beyond R, two programs would store in one element, and no program says which of them counts. So it is
assumed of the launch that j < R, and written down: but only if j begins at 0, so that a longer row does meet the next
one, and only if launches of several sizes can be so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic, number
from translators.algebra.samples import MOST_TRIED, Nowhere, Point, Samples
from translators.tile.expression import Axis

FEWEST: Final = 3  # points at which what is assumed has to hold
LONG: Final = 2  # elements of a row, at one of them
MOST_NESTED: Final = 8


def begins_at_zero(coordinate: Polynomial) -> bool:
    """Whether the first point of every axis has the coordinate 0."""
    for _ in range(MOST_NESTED):
        axes: dict[Atom, Polynomial] = {atom: atom.begin for atom in coordinate.atoms() if isinstance(atom, Axis)}
        if not axes:
            return not coordinate.terms
        coordinate = coordinate.substitute(axes)
    return False


def can_hold(facts: Facts, room: Polynomial, row: Polynomial) -> bool:
    """Whether the room that is left in a row is not negative at several points of the facts, also where rows are long;
    `room` and `row` are the same for all points of a launch."""
    known = (*facts.assumed, room)
    holding = list(Samples(facts.lows, facts.highs, known).points())
    for size in _sizes(room):
        if len(holding) < FEWEST and room.coefficient(size) == number(1):
            holding += _filling(facts, known, size, atomic(size) - room)
        elif len(holding) < FEWEST and room.coefficient(size) == number(-1):
            holding += _filling(facts, known, size, atomic(size) + room)
    return len(holding) >= FEWEST and any(_value(point, row) >= LONG for point in holding)


def _sizes(room: Polynomial) -> Iterable[Symbol]:
    return dict.fromkeys(atom for atom in room.atoms() if isinstance(atom, Symbol))


def _filling(facts: Facts, known: Sequence[Polynomial], size: Symbol, whole: Polynomial) -> Iterator[Point]:
    """Points where a size is so that the row is as long as what is stored in it."""
    for seed in range(MOST_TRIED):
        point = Point(facts.lows, facts.highs, seed)
        length = _value(point, whole)
        sizes: dict[Atom, int] = {atom: value for atom, value in point.values.items() if isinstance(atom, Symbol)}
        filled = Point(facts.lows, facts.highs, seed, {**sizes, size: length})
        if length >= 0 and all(_value(filled, each) >= 0 for each in known):
            yield filled


def _value(point: Point, polynomial: Polynomial) -> int:
    try:
        return point.polynomial(polynomial)
    except Nowhere:
        point.open.clear()
        return -1
