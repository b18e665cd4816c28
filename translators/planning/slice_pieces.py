"""Which slices a program visits: from the first to the last that matter, the whole ones in a loop without guards.

A limit `p >= 0` of a fold is solved for the position k along the slices: k <= floor(r / m) or k >= -floor(r / m),
where r is what p is without its multiple of k. Over the coordinates that a program covers, r lies between two values,
which are reached at the ends of its tiles. The larger one says which slices matter, the smaller one in which slices the
limit holds for every pair of coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intent.records import dataclass
from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    atomic,
    ceiling_divide,
    floor_divide,
    maximum,
    minimum,
    number,
)
from translators.tile.expression import Axis, LoopToken, dependences

Ends = Callable[[Axis], tuple[Polynomial, Polynomial] | None]  # first and last coordinate of an axis in this program

ZERO = number(0)


@dataclass(frozen=True, slots=True)
class Bound:
    """Positions below `matters` matter, below `certain` the limit holds for all; from there on, if not `upper`."""

    upper: bool
    matters: Polynomial
    certain: Polynomial


@dataclass(frozen=True, slots=True)
class Visited:
    """The slices a program visits: [begin, end), of which those in [whole_begin, whole_end) are whole."""

    begin: Polynomial
    whole_begin: Polynomial
    whole_end: Polynomial
    end: Polynomial


@dataclass(frozen=True, slots=True)
class Piece:
    """One loop over slices that start in [low, high)."""

    low: Polynomial
    high: Polynomial
    whole: bool


@dataclass(slots=True)
class Solver:
    """Solves limits for the position along the slices of one loop, or along an axis cut in tiles."""

    along: LoopToken | Axis
    open: frozenset[LoopToken]
    ends: Ends

    def bound(self, limit: Polynomial) -> Bound | None:
        """What the limit says about positions; None if it cannot be told from the ends of the program's tiles."""
        solved = self._isolated(limit)
        if solved is None:
            return None
        step, rest = solved
        least, most = self._extreme(rest, largest=False), self._extreme(rest, largest=True)
        if least is None or most is None:
            return None
        size = number(abs(step))
        low, high = floor_divide(least, size), floor_divide(most, size)
        return Bound(True, high + 1, low + 1) if step < 0 else Bound(False, -high, -low)

    def _isolated(self, limit: Polynomial) -> tuple[int, Polynomial] | None:
        """(m, r): the limit is m*k + r >= 0, with k the position along the slices and r free of it."""
        factors = dict.fromkeys(atom for monomial, _ in limit.terms for atom in monomial)
        inside = [atom for atom in factors if self._within(atom)]
        if len(inside) != 1:
            return None
        atom = inside[0]
        coefficient = limit.coefficient(atom)
        step = coefficient.constant if coefficient is not None else None
        if coefficient is None or step is None:
            return None
        rest = limit - coefficient * atomic(atom)
        if isinstance(atom, Axis):
            return step, rest + step * atom.begin
        divisor = atom.denominator.constant if isinstance(atom, Quotient) else None
        if not isinstance(atom, Quotient) or divisor is None or divisor < 1 or abs(step) != 1:
            return None
        # n // d + r >= 0 is n + r*d >= 0, and r - n // d >= 0 is (r + 1)*d - 1 - n >= 0
        if step == 1:
            return self._isolated(atom.numerator + rest * divisor)
        return self._isolated((rest + 1) * divisor - 1 - atom.numerator)

    def _extreme(self, polynomial: Polynomial, largest: bool) -> Polynomial | None:
        """The largest (or least) value over the program's coordinates."""
        total = ZERO
        for monomial, coefficient in polynomial.terms:
            if not any(self._varies(atom) for atom in monomial):
                total = total + Polynomial(((monomial, coefficient),))
                continue
            found = self._extreme_atom(monomial[0], largest == (coefficient > 0)) if len(monomial) == 1 else None
            if found is None:
                return None
            total = total + coefficient * found
        return total

    def _extreme_atom(self, atom: Atom, largest: bool) -> Polynomial | None:
        match atom:
            case Axis():
                ends = self.ends(atom)
                return None if ends is None else ends[largest]
            case Quotient(numerator=numerator, denominator=denominator) if (denominator.constant or 0) > 0:
                found = self._extreme(numerator, largest)
                return None if found is None else floor_divide(found, denominator)
            case Extremum(kind=kind, operands=operands):
                each = [self._extreme(operand, largest) for operand in operands]
                known = [one for one in each if one is not None]
                return None if len(known) < len(each) else (minimum if kind == "minimum" else maximum)(*known)
            case _:
                return None

    def _varies(self, atom: Atom) -> bool:
        """The atom has several values within one program, or none before the loop."""
        axes, loops = _dependences(atom)
        return not loops <= self.open or any(ends is None or ends[0] != ends[1] for ends in map(self.ends, axes))

    def _within(self, atom: Atom) -> bool:
        """The atom varies from slice to slice."""
        axes, loops = _dependences(atom)
        return self.along in loops or any(self.along in (axis, axis.slices) for axis in axes)


def _dependences(atom: Atom) -> tuple[frozenset[Axis], frozenset[LoopToken]]:
    found = [dependences(inner) for inner in atomic(atom).atoms()]
    return frozenset().union(*(axes for axes, _ in found)), frozenset().union(*(loops for _, loops in found))


def visited(bounds: Sequence[Bound], extent: Polynomial, block: Polynomial, facts: Facts) -> Visited:
    """The slices between all bounds, in whole multiples of the block from 0 on."""
    low = _from_zero(facts, *(bound.matters for bound in bounds if not bound.upper))
    sure = _from_zero(facts, *(bound.certain for bound in bounds if not bound.upper))
    high = minimum(extent, *(bound.matters for bound in bounds if bound.upper))
    whole = _from_zero(facts, minimum(extent, *(bound.certain for bound in bounds if bound.upper)))
    first = ceiling_divide(sure, block) * block if sure.terms else ZERO
    return Visited(floor_divide(low, block) * block, first, floor_divide(whole, block) * block, high)


def pieces(found: Visited, lower: bool, tail: bool) -> list[Piece]:
    """The loops that visit a span in order: guarded ones around one of whole slices, which may all be empty."""
    head = [Piece(found.begin, minimum(found.whole_begin, found.end), whole=False)] if lower else []
    rest = maximum(found.whole_begin, found.whole_end) if lower else found.whole_end
    last = [Piece(rest, found.end, whole=False)] if tail else []
    return [*head, Piece(found.whole_begin, found.whole_end, whole=True), *last]


def _from_zero(facts: Facts, *bounds: Polynomial) -> Polynomial:
    """The largest of the bounds, and 0 unless one of them is known not to be negative."""
    return maximum(*bounds) if any(map(facts.nonnegative, bounds)) else maximum(ZERO, *bounds)
