"""What is known about atoms, and proofs of inequalities from it.

`Facts` holds bounds of atoms (symbols are nonnegative without saying so) and inequalities. `nonnegative(p)` is True
only with a proof; False means "not proven". A proof replaces one atom at a time by a bound that makes the polynomial
smaller, atoms whose bounds mention other atoms first:

    p = c*x + r,  c >= 0,  x >= low   gives   p >= c*low + r

Floor division, remainder, minimum and maximum are replaced by what defines them; a divisor that is not negative is
positive, since nothing is divided by zero. The search is bounded, so that a
question costs microseconds to a few milliseconds whatever its answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from intent.records import dataclass, field, replace
from translators.algebra.effort import OF_A_QUESTION, OF_A_VISIT, OF_SAMPLES, Effort
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Monomial,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    as_polynomial,
    atomic,
    number,
    without_factor,
)
from translators.algebra.samples import Samples

SEARCHES = ((60, 3), (300, 24))  # polynomials visited for one question, and replacements in one chain of its proof
DEPTH_LIMIT = 4  # how far bounds that mention other atoms are followed by intervals and when atoms are ordered

Bounds = Mapping[Atom, tuple[Polynomial, ...]]


@dataclass(frozen=True, slots=True)
class Interval:
    """A range of integers; None is unbounded."""

    low: int | None
    high: int | None

    def __add__(self, other: Interval) -> Interval:
        return Interval(_sum(self.low, other.low), _sum(self.high, other.high))

    def __mul__(self, other: Interval) -> Interval:
        if self.constant == 0 or other.constant == 0:
            return Interval(0, 0)
        if None not in (self.low, self.high, other.low, other.high):
            corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]  # type: ignore[operator]
            return Interval(min(corners), max(corners))
        if self.low is not None and other.low is not None and self.low >= 0 and other.low >= 0:
            return Interval(self.low * other.low, None)
        return EVERYTHING

    def scaled(self, factor: int) -> Interval:
        if factor == 1:
            return self
        low, high = self.low, self.high
        if low is not None and high is not None:
            return Interval(low * factor, high * factor) if factor > 0 else Interval(high * factor, low * factor)
        return Interval(low * factor, None) if low is not None and low >= 0 < factor else EVERYTHING

    @property
    def constant(self) -> int | None:
        return self.low if self.low == self.high else None

    def within(self, other: Interval) -> Interval:
        """The intersection."""
        lows = [low for low in (self.low, other.low) if low is not None]
        highs = [high for high in (self.high, other.high) if high is not None]
        return Interval(max(lows, default=None), min(highs, default=None))


EVERYTHING = Interval(None, None)
NOTHING, ONE = Interval(0, 0), Interval(1, 1)


@dataclass(frozen=True, slots=True)
class Facts:
    """Immutable: every `with_` and `assuming` gives a new one that knows more."""

    lows: Bounds = field(default_factory=dict)
    highs: Bounds = field(default_factory=dict)
    assumed: tuple[Polynomial, ...] = ()
    _answers: dict[Polynomial, bool] = field(default_factory=dict, init=False, compare=False, repr=False)
    _intervals: dict[tuple[Atom, int], Interval] = field(default_factory=dict, init=False, compare=False, repr=False)
    _heights: dict[tuple[Atom, int], int] = field(default_factory=dict, init=False, compare=False, repr=False)
    _samples: list[Samples] = field(default_factory=list, init=False, compare=False, repr=False)
    _more: dict[object, Facts] = field(default_factory=dict, init=False, compare=False, repr=False)
    effort: Effort = field(default_factory=Effort, compare=False, repr=False)  # of all that descend from one
    _proofs: dict[object, bool] = field(default_factory=dict, compare=False, repr=False)  # of these too

    def with_bounds(
        self, atom: Atom, low: Polynomial | int | None = None, high_inclusive: Polynomial | int | None = None
    ) -> Facts:
        """Also know low <= atom <= high_inclusive; earlier bounds stay. The same addition gives the same object."""
        key = (atom, low, high_inclusive)
        found = self._more.get(key)
        if found is None:
            lows, highs = _extended(self.lows, atom, low), _extended(self.highs, atom, high_inclusive)
            found = self._more[key] = replace(self, lows=lows, highs=highs)
        return found

    def assuming(self, nonnegative: Polynomial) -> Facts:
        """Also know that this polynomial is not negative."""
        if nonnegative in self.assumed:
            return self
        found = self._more.get(nonnegative)
        if found is None:
            found = self._more[nonnegative] = replace(self, assumed=(*self.assumed, nonnegative))
        return found

    # -------------------------------------------------------------------------------------------------------- questions
    def nonnegative(self, polynomial: Polynomial) -> bool:
        """Proven not negative; the same question is answered once."""
        known = self._answers.get(polynomial)
        self.effort.spend(OF_A_QUESTION)
        if known is None:
            known = self._within(polynomial)
            if known is None:
                known = self._searched(polynomial)
            self._answers[polynomial] = known
        return known

    def _searched(self, polynomial: Polynomial) -> bool:
        """Facts that know the same of what the question mentions have the same answer."""
        key = (polynomial, self._relevant(polynomial), self.assumed)
        known = self._proofs.get(key)
        if known is None:
            known = self._proofs[key] = self._proven(polynomial)
        return known

    def _relevant(self, polynomial: Polynomial) -> tuple[object, ...]:
        """The bounds of all atoms that the polynomial, what is assumed, or these bounds mention."""
        found: dict[Atom, tuple[object, ...]] = {}
        open_polynomials = [polynomial, *self.assumed]
        while open_polynomials:
            for atom in open_polynomials.pop().atoms():
                if atom not in found:
                    lows, highs = self.lows.get(atom, ()), self.highs.get(atom, ())
                    found[atom] = (atom, lows, highs)
                    open_polynomials.extend((*lows, *highs))
        return tuple(each for each in found.values() if each[1] or each[2])

    def _within(self, polynomial: Polynomial) -> bool | None:
        """The answer, if the polynomial's numbers lie on one side of 0."""
        interval = self.bounds(polynomial)
        if interval.low is not None and interval.low >= 0:
            return True
        return False if interval.high is not None and interval.high < 0 else None

    def _sampled(self) -> Samples:
        if not self._samples:
            self.effort.spend(OF_SAMPLES)
            self._samples.append(Samples(self.lows, self.highs, self.assumed))
        return self._samples[0]

    def _proven(self, polynomial: Polynomial) -> bool:
        """What follows from one assumption needs no search, nor does what numbers refute. Short chains first: most
        proofs are short, and a long search may pass them by.
        """
        if any(self._within(polynomial - known) for known in self.assumed):
            return True
        if self._sampled().refute(polynomial):
            return False
        for visited, steps in SEARCHES:
            if (visited, steps) == SEARCHES[1]:
                self.effort.spend(OF_SAMPLES)
                if self._sampled().refute_elsewhere(polynomial):
                    return False
            proof = _Proof(self, visited, steps)
            if any(proof.nonnegative(each) for each in (polynomial, *(polynomial - p for p in self.assumed))):
                return True
            if not proof.cut:
                return False
        return False

    def positive(self, polynomial: Polynomial) -> bool:
        return self.nonnegative(polynomial - 1)

    def less(self, lhs: Polynomial | int, rhs: Polynomial | int) -> bool:
        return self.positive(as_polynomial(rhs) - lhs)

    def less_equal(self, lhs: Polynomial | int, rhs: Polynomial | int) -> bool:
        return self.nonnegative(as_polynomial(rhs) - lhs)

    def equal(self, lhs: Polynomial | int, rhs: Polynomial | int) -> bool:
        difference = as_polynomial(lhs) - rhs
        return not difference.terms or (self.nonnegative(difference) and self.nonnegative(-difference))

    def bounds(self, polynomial: Polynomial) -> Interval:
        """Numbers between which the polynomial lies, by interval arithmetic alone."""
        return _interval(self, polynomial, DEPTH_LIMIT)


def _extended(bounds: Bounds, atom: Atom, bound: Polynomial | int | None) -> Bounds:
    if bound is None:
        return bounds
    return {**bounds, atom: (*bounds.get(atom, ()), as_polynomial(bound))}


def _sum(lhs: int | None, rhs: int | None) -> int | None:
    return None if lhs is None or rhs is None else lhs + rhs


# ------------------------------------------------------------------------------------------------- interval arithmetic
def _interval(facts: Facts, polynomial: Polynomial, depth: int) -> Interval:
    total = NOTHING
    for monomial, coefficient in polynomial.terms:
        total = total + _product(facts, monomial, depth).scaled(coefficient)
        if total.low is None and total.high is None:
            break
    return total


def _product(facts: Facts, monomial: Monomial, depth: int) -> Interval:
    if not monomial:
        return ONE
    result = _atom_interval(facts, monomial[0], depth)
    for atom in monomial[1:]:
        result = result * _atom_interval(facts, atom, depth)
    return result


def _atom_interval(facts: Facts, atom: Atom, depth: int) -> Interval:
    if depth == 0:
        return Interval(0, None) if isinstance(atom, Symbol) else EVERYTHING
    found = facts._intervals.get((atom, depth))
    if found is None:
        found = facts._intervals[atom, depth] = _bounded_interval(facts, atom, depth)
    return found


def _bounded_interval(facts: Facts, atom: Atom, depth: int) -> Interval:
    result = _own_interval(facts, atom, depth - 1)
    for low in facts.lows.get(atom, ()):
        result = result.within(Interval(_interval(facts, low, depth - 1).low, None))
    for high in facts.highs.get(atom, ()):
        result = result.within(Interval(None, _interval(facts, high, depth - 1).high))
    return result


def _own_interval(facts: Facts, atom: Atom, depth: int) -> Interval:
    """What the kind of atom implies, without its declared bounds."""
    match atom:
        case Symbol():
            return Interval(0, None)
        case Quotient(numerator, denominator):
            return _quotient_interval(_interval(facts, numerator, depth), _interval(facts, denominator, depth))
        case Remainder(numerator, denominator):
            return _remainder_interval(_interval(facts, numerator, depth), _interval(facts, denominator, depth))
        case Extremum(kind, operands):
            return _extremum_interval(kind, [_interval(facts, operand, depth) for operand in operands])
        case _:
            return EVERYTHING


def _divides(bottom: Interval) -> bool:
    """Not negative, and so positive; some positive number is possible."""
    return bottom.low is not None and bottom.low >= 0 and (bottom.high is None or bottom.high > 0)


def _quotient_interval(top: Interval, bottom: Interval) -> Interval:
    """n // d for d >= 1 lies between its values at the ends of both ranges; an unbounded d takes it to 0 or -1."""
    if not _divides(bottom):
        return EVERYTHING
    divisor = max(bottom.low or 0, 1)
    low = None if top.low is None else _least_quotient(top.low, divisor, bottom.high)
    if top.high is None:
        return Interval(low, None)
    if top.high >= 0:
        return Interval(low, top.high // divisor)
    return Interval(low, -1 if bottom.high is None else top.high // bottom.high)


def _least_quotient(top: int, bottom_low: int, bottom_high: int | None) -> int:
    if top < 0:
        return top // bottom_low
    return 0 if bottom_high is None else top // bottom_high


def _remainder_interval(top: Interval, bottom: Interval) -> Interval:
    """n % d for d >= 1 lies in [0, d - 1], and in [0, n] too when n is not negative."""
    if not _divides(bottom):
        return EVERYTHING
    result = Interval(0, None if bottom.high is None else bottom.high - 1)
    return result.within(Interval(None, top.high)) if top.low is not None and top.low >= 0 else result


def _extremum_interval(kind: str, operands: list[Interval]) -> Interval:
    lows, highs = [each.low for each in operands], [each.high for each in operands]
    known_lows, known_highs = [low for low in lows if low is not None], [high for high in highs if high is not None]
    if kind == "minimum":
        return Interval(min(known_lows) if None not in lows else None, min(known_highs, default=None))
    return Interval(max(known_lows, default=None), max(known_highs) if None not in highs else None)


# --------------------------------------------------------------------------------------------------------------- proofs
@dataclass(slots=True)
class _Proof:
    """One search: answers already found (an open question counts as unproven, which ends circular bounds)."""

    facts: Facts
    most_visited: int
    most_steps: int
    answers: dict[Polynomial, bool] = field(default_factory=dict)
    steps: int = 0
    cut: bool = False  # by a limit

    def nonnegative(self, polynomial: Polynomial) -> bool:
        known = self.answers.get(polynomial)
        if known is not None:
            return known
        if self.steps >= self.most_steps or self._exhausted():
            self.cut = True
            return False
        self.answers[polynomial] = False
        self.facts.effort.spend(OF_A_VISIT)
        self.steps += 1
        answer = self._search(polynomial)
        self.steps -= 1
        self.answers[polynomial] = answer
        return answer

    def _exhausted(self) -> bool:
        return len(self.answers) >= self.most_visited

    def _search(self, polynomial: Polynomial) -> bool:
        interval = self.facts.bounds(polynomial)
        if interval.low is not None and interval.low >= 0:
            return True
        if interval.high is not None and interval.high < 0:
            return False
        whole = _without_exact_quotients(polynomial)
        if whole != polynomial and self.nonnegative(whole):
            return True
        return any(self._by_replacing(polynomial, atom) for atom in self._ordered_atoms(polynomial))

    def _ordered_atoms(self, polynomial: Polynomial) -> list[Atom]:
        """Factors of the terms: what is bounded by other atoms comes before these."""
        factors = dict.fromkeys(atom for monomial, _ in polynomial.terms for atom in monomial)
        return sorted(factors, key=lambda atom: (-self._height(atom, DEPTH_LIMIT), atom.sort_key))

    def _height(self, atom: Atom, depth: int) -> int:
        heights = self.facts._heights
        if (atom, depth) not in heights:
            inner = self._mentioned(atom) if depth else ()
            heights[atom, depth] = 1 + max((self._height(each, depth - 1) for each in inner), default=-1)
        return heights[atom, depth]

    def _mentioned(self, atom: Atom) -> list[Atom]:
        bounds = [*self.facts.lows.get(atom, ()), *self.facts.highs.get(atom, ())]
        if isinstance(atom, (Quotient, Remainder, Extremum)):
            bounds.extend(atom.operands)
        return [factor for bound in bounds for monomial, _ in bound.terms for factor in monomial]

    def _by_replacing(self, polynomial: Polynomial, atom: Atom) -> bool:
        if self._exhausted():
            self.cut = True
            return False
        coefficient, rest = _split(polynomial, atom)
        if isinstance(atom, Extremum) and self._by_cases(atom, coefficient, rest):
            return True
        if isinstance(atom, Quotient) and self._by_division(atom, coefficient, rest):
            return True
        factor = coefficient.constant
        if factor > 0 if factor is not None else self.nonnegative(coefficient):
            return any(self.nonnegative(coefficient * low + rest) for low in self._lows(atom))
        if factor is not None or self.nonnegative(-coefficient):
            return any(self.nonnegative(coefficient * high + rest) for high in self._highs(atom))
        return False

    def _by_cases(self, atom: Extremum, coefficient: Polynomial, rest: Polynomial) -> bool:
        """The extremum is one of its operands; on the side it bounds, any operand will do."""
        outcomes = (self.nonnegative(coefficient * operand + rest) for operand in atom.operands)
        helps = self.nonnegative(-coefficient if atom.kind == "minimum" else coefficient)
        return any(outcomes) if helps else all(outcomes)

    def _by_division(self, atom: Quotient, coefficient: Polynomial, rest: Polynomial) -> bool:
        """q = n // d with d > 0: q >= a is n >= a*d, and q <= a is n < (a + 1)*d; other multiples are scaled by d."""
        top, bottom = atom.operands
        if not self.nonnegative(bottom):
            return False
        match coefficient.constant:
            case 1:
                return self.nonnegative(top + rest * bottom)
            case -1:
                return self.nonnegative((rest + 1) * bottom - 1 - top)
            case _:
                scaled = coefficient * (top - atomic(Remainder(top, bottom))) + rest * bottom
                return self.nonnegative(scaled)

    def _lows(self, atom: Atom) -> Iterator[Polynomial]:
        yield from self.facts.lows.get(atom, ())
        match atom:
            case Symbol():
                yield number(0)
            case Quotient(top, bottom) if self.nonnegative(bottom) and self.nonnegative(top):
                yield number(0)
            case Remainder(_, bottom) if self.nonnegative(bottom):
                yield number(0)
            case _:
                pass

    def _highs(self, atom: Atom) -> Iterator[Polynomial]:
        yield from self.facts.highs.get(atom, ())
        match atom:
            case Quotient(top, bottom) if self.nonnegative(bottom) and self.nonnegative(top):
                yield top
            case Remainder(top, bottom) if self.nonnegative(bottom):
                yield bottom - 1
                if self.nonnegative(top):
                    yield top
            case _:
                pass


def _split(polynomial: Polynomial, atom: Atom) -> tuple[Polynomial, Polynomial]:
    """(c, r) with polynomial = c*atom + r and no term of r a multiple of `atom`."""
    multiples: list[tuple[Monomial, int]] = []
    others: list[tuple[Monomial, int]] = []
    for term in polynomial.terms:
        (multiples if atom in term[0] else others).append(term)
    return without_factor(multiples, atom), Polynomial(tuple(others))


def _without_exact_quotients(polynomial: Polynomial) -> Polynomial:
    """d*(n // d) as n - n % d, wherever a whole multiple of d stands before the quotient."""
    if not any(isinstance(atom, Quotient) for monomial, _ in polynomial.terms for atom in monomial):
        return polynomial
    total = Polynomial()
    for monomial, coefficient in polynomial.terms:
        total = total + _term_without_quotient(Polynomial(((monomial, coefficient),)), monomial)
    return total


def _term_without_quotient(term: Polynomial, monomial: Monomial) -> Polynomial:
    for atom in monomial:
        if isinstance(atom, Quotient):
            factor = term.divided_by(atomic(atom))
            multiple = factor.divided_by(atom.denominator) if factor is not None else None
            if multiple is not None:
                return multiple * (atom.numerator - atomic(Remainder(atom.numerator, atom.denominator)))
    return term
