"""Loads of which several neighbouring lanes want one element: it is read once and repeated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from intent.records import dataclass
from translators.algebra.polynomial import Atom, Extremum, Polynomial, Quotient, Remainder, number
from translators.tile.expression import Axis, Expression
from translators.triton_source.expressions import Code, binary, call, method

MOST = 32  # lanes that share an element; more of them are several groups


@dataclass(frozen=True, slots=True)
class Fewer:
    """Lanes of an axis each of which stands for `times` neighbours, and what guards them."""

    times: int
    lanes: Code
    mask: Code | None

    def quotient(self, divisor: int) -> Code:
        """The coordinate, divided."""
        return self.lanes if divisor == self.times else binary("//", self.lanes, Code(str(divisor // self.times)))


@dataclass(frozen=True, slots=True)
class Tiles:
    """Tiles of an axis that begin at multiples of their length."""

    start: Code | None  # where the current one does, if not at 0
    block: str
    length: int

    def fewer(self, times: int, limit: Code | None) -> Fewer:
        """`limit`: how many of the fewer lanes there are, if not all of a tile count."""
        lanes = method(call("tl.arange", Code("0"), binary("//", Code(self.block), Code(str(times)))), "to", "INDEX")
        if self.start is not None:
            lanes = binary("+", binary("//", self.start, Code(str(times))), lanes)
        return Fewer(times, lanes, None if limit is None else binary("<", lanes, limit))


def sharing(coordinates: Sequence[Polynomial], axis: Axis, tiles: Tiles) -> int:
    """How many neighbouring lanes of a tile want one element, and the next ones its neighbour in memory: the last
    coordinate is the axis divided by that, or a remainder of it, and others depend on no more of it. 1 if none do.
    """
    last = coordinates[-1].atom if coordinates else None
    quotient = last.numerator.atom if isinstance(last, Remainder) else last
    if not isinstance(quotient, Quotient) or quotient.numerator.atom is not axis:
        return 1
    times = quotient.denominator.constant or 1
    return times if math.gcd(neighbours(coordinates, axis), MOST, tiles.length) == times else 1


def neighbours(coordinates: Sequence[Polynomial], axis: Axis) -> int:
    """How many neighbours along an axis have the same coordinates: 0 if all have, 1 if each has its own."""
    return math.gcd(*(divisor for each in coordinates for divisor in _divisors(each, axis)))


def shared_extent(axis: Axis, times: int) -> Polynomial | None:
    """How many different elements so many neighbours each share, if they are never cut."""
    return axis.extent.divided_by(number(times)) if axis.begin.constant == 0 else None


def _divisors(value: Polynomial, axis: Axis) -> Iterator[int]:
    """What the axis is divided by wherever it occurs."""
    for monomial, _ in value.terms:
        for atom in monomial:
            yield from _divisors_in(atom, axis)


def _divisors_in(atom: Atom, axis: Axis) -> Iterator[int]:
    match atom:
        case Axis():
            if atom is axis:
                yield 1
        case Quotient(numerator=numerator, denominator=denominator) if numerator.atom is axis:
            yield denominator.constant or 1
        case Quotient() | Remainder() | Extremum():
            for operand in atom.operands:
                yield from _divisors(operand, axis)
        case Expression():
            if axis in atom.axes:
                yield 1
