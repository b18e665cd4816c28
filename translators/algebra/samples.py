"""Points at which every fact holds: an inequality that is false at one of them has no proof, so none is searched for.

A point gives each atom a number within its bounds, the numbers of other atoms first where bounds mention them. Atoms
are chosen when they are first met; the same question always meets the same points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from intent.records import dataclass, field
from translators.algebra.polynomial import Atom, Extremum, Polynomial, Quotient, Remainder, Symbol

POINTS: Final = 24
MOST_TRIED: Final = 120
MOST_FRESH: Final = 64  # for one question
SIZES: Final = (1, 2, 3, 5, 8, 16, 33, 64)
EVERY: Final = 4  # of so many points, one has sizes of 0 and one has large ones

Bounds = Mapping[Atom, tuple[Polynomial, ...]]


class Nowhere(Exception):
    """At this point an atom has no value: its bounds exclude each other, or it divides by 0."""


@dataclass(slots=True)
class Point:
    """One choice of numbers, by seed."""

    lows: Bounds
    highs: Bounds
    seed: int
    values: dict[Atom, int] = field(default_factory=dict)
    open: set[Atom] = field(default_factory=set)

    def polynomial(self, polynomial: Polynomial) -> int:
        total, values = 0, self.values
        for monomial, product in polynomial.terms:
            for atom in monomial:
                found = values.get(atom)
                product *= self.atom(atom) if found is None else found
            total += product
        return total

    def atom(self, atom: Atom) -> int:
        found = self.values.get(atom)
        if found is None:
            if atom in self.open:
                raise Nowhere
            self.open.add(atom)
            found = self._chosen(atom)
            self.open.discard(atom)
            self.values[atom] = found
        return found

    def _chosen(self, atom: Atom) -> int:
        match atom:
            case Quotient(top, bottom) | Remainder(top, bottom):
                left, right = self.polynomial(top), self.polynomial(bottom)
                if right == 0:
                    raise Nowhere
                value = left // right if isinstance(atom, Quotient) else left % right
            case Extremum(kind, operands):
                value = (min if kind == "minimum" else max)(map(self.polynomial, operands))
            case _:
                return self._free(atom)
        self._check(value, atom)
        return value

    def _check(self, value: int, atom: Atom) -> None:
        low, high = self._range(atom)
        if (low is not None and value < low) or (high is not None and value > high):
            raise Nowhere

    def _range(self, atom: Atom) -> tuple[int | None, int | None]:
        lows = [self.polynomial(each) for each in self.lows.get(atom, ())]
        highs = [self.polynomial(each) for each in self.highs.get(atom, ())]
        if isinstance(atom, Symbol):
            lows.append(0)
        return max(lows, default=None), min(highs, default=None)

    def _free(self, atom: Atom) -> int:
        low, high = self._range(atom)
        draw = self._draw()
        if low is None:
            low = (high if high is not None else 4) - 9
        if high is None:
            return max(low, self._size(draw))
        if high < low:
            raise Nowhere
        return (low, high, low + draw % (high - low + 1))[draw % 3]

    def _size(self, draw: int) -> int:
        if self.seed % EVERY == 1 and draw % 3 == 0:
            return 0
        return SIZES[draw // 3 % len(SIZES)] * (10 if self.seed % EVERY == 2 and draw % 5 == 0 else 1)

    def _draw(self) -> int:
        """The same in every process: atoms are met in the same order."""
        state = (self.seed * 2654435761 + len(self.values) * 40503 + 12345) & 0xFFFFFFFF
        for _ in range(2):
            state = (state ^ (state >> 15)) * 0x2C1B3C6D & 0xFFFFFFFF
        return state >> 5


@dataclass(slots=True)
class Samples:
    """Some points of the facts."""

    lows: Bounds
    highs: Bounds
    assumed: Sequence[Polynomial]
    _points: list[Point] | None = None

    def refute(self, polynomial: Polynomial) -> bool:
        """Whether the polynomial is negative at one of the points."""
        return any(_negative(point, polynomial) for point in self.points())

    def refute_elsewhere(self, polynomial: Polynomial) -> bool:
        """The same at points that are chosen for this question: what it mentions gets its numbers first."""
        known = self.points()
        for seed in range(MOST_TRIED, MOST_TRIED + MOST_FRESH):
            point = Point(self.lows, self.highs, seed)
            if _negative(point, polynomial) and self._holds(point):
                known.append(point)
                return True
        return False

    def _holds(self, point: Point) -> bool:
        try:
            return all(point.polynomial(each) >= 0 for each in self.assumed)
        except Nowhere:
            return False

    def points(self) -> list[Point]:
        if self._points is None:
            self._points = self._found()
        return self._points

    def _found(self) -> list[Point]:
        found: list[Point] = []
        for seed in range(MOST_TRIED):
            point = Point(self.lows, self.highs, seed)
            if self._holds(point):
                found.append(point)
            if len(found) == POINTS:
                break
        return found


def _negative(point: Point, polynomial: Polynomial) -> bool:
    try:
        return point.polynomial(polynomial) < 0
    except Nowhere:
        point.open.clear()
        return False
