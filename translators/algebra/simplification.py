"""Quotients, remainders and extrema made simpler by facts; the value stays the same."""

from __future__ import annotations

from functools import reduce as fold
from math import gcd

from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Monomial,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    floor_divide,
    maximum,
    minimum,
    number,
    remainder,
)


def quotient(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial:
    """top // bottom: whole multiples leave, a common positive factor cancels, and a proper fraction is 0."""
    factor = common_factor((top, bottom))
    if factor != number(1) and facts.positive(factor):
        top, bottom = exactly(top, factor), exactly(bottom, factor)
    nested = top.atom
    if isinstance(nested, Remainder):  # (n % (a*b)) // b is (n // b) % a
        times = nested.denominator.divided_by(bottom)
        if times is not None and _divides(facts, nested.denominator):
            return remaining(facts, quotient(facts, nested.numerator, bottom), times)
    whole, rest = multiples(top, bottom)
    if facts.nonnegative(rest) and facts.less(rest, bottom):
        return whole
    rounded = _rounded_up(facts, rest, bottom)
    if rounded is not None:
        return whole + rounded
    unbounded = _without_bound(facts, rest, bottom)
    if unbounded is not None:
        return whole + quotient(facts, unbounded, bottom)
    if rest.offset == -1:  # quotients that round up keep their usual form
        return whole - 1 + floor_divide(rest + bottom, bottom)
    return whole + floor_divide(rest, bottom)


def _rounded_up(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial | None:
    """(f*a + f*b - 1) // (f*b) is (a + b - 1) // b: a quotient rounded up, where a common factor cancels too."""
    exact = top - bottom + 1
    factor = common_factor((exact, bottom))
    if factor == number(1) or not facts.positive(factor):
        return None
    a, b = exactly(exact, factor), exactly(bottom, factor)
    return floor_divide(a + b - 1, b)


def _without_bound(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial | None:
    """max(0, a) + c as a + c, if both divided by the bottom are 0 wherever a is negative: c < bottom and 0 <= a + c."""
    for monomial, factor in top.terms:
        atom = monomial[0] if len(monomial) == 1 and factor == 1 else None
        if not isinstance(atom, Extremum) or atom.kind != "maximum" or number(0) not in atom.operands:
            continue
        added = (top - atomic(atom)).constant
        limit = bottom.constant
        if added is None or limit is None or not 0 <= added < limit:
            continue
        value = maximum(*(each for each in atom.operands if each != number(0)))
        if facts.nonnegative(value + added):
            return value + added
    return None


def _divides(facts: Facts, divisor: Polynomial) -> bool:
    """Whether what a program divides by is positive: it is not 0, and a sum of products of sizes is not negative."""
    return facts.positive(divisor) or all(
        factor > 0 and all(isinstance(atom, Symbol) for atom in monomial) for monomial, factor in divisor.terms
    )


def remaining(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial:
    """top % bottom: multiples leave, and what is smaller stays; (n % (a*b)) % b is n % b."""
    nested = top.atom
    if isinstance(nested, Remainder) and nested.denominator.divided_by(bottom) and _divides(facts, bottom):
        return remaining(facts, nested.numerator, bottom)
    _, rest = multiples(top, bottom)
    if facts.nonnegative(rest) and facts.less(rest, bottom):
        return rest
    return remainder(rest, bottom)


def with_remainders(facts: Facts, polynomial: Polynomial) -> Polynomial:
    """Quotients that complete a remainder: n - d*(n // d) is n % d, and n % (d*k) - d*(n // d % k) is n % d too.

    With the remainder they are the whole: d*(n // d) + n % d is n.
    """
    for monomial, factor in polynomial.terms:
        term = Polynomial(((monomial, factor),))
        for atom in dict.fromkeys(monomial):
            made = _completed(facts, polynomial, term, atom)
            if made is not None:
                return with_remainders(facts, made)
    return polynomial


def _completed(facts: Facts, polynomial: Polynomial, term: Polynomial, atom: Atom) -> Polynomial | None:
    match atom:
        case Quotient(top, divisor):
            whole, rest = top, remaining(facts, top, divisor)
        case Remainder(top, times) if isinstance(inner := top.atom, Quotient):
            divisor = inner.denominator
            whole = remaining(facts, inner.numerator, divisor * times)
            rest = remaining(facts, inner.numerator, divisor)
        case _:
            return None
    beside = term.divided_by(atomic(atom))
    count = None if beside is None else beside.divided_by(divisor)
    if count is None:
        return None
    made = polynomial - term + count * (whole - rest)
    return made if _size(made) < _size(polynomial) else None


def _size(polynomial: Polynomial) -> tuple[int, int]:
    """How many terms, and how many of them divide."""
    divided = sum(any(isinstance(atom, Quotient | Remainder) for atom in monomial) for monomial, _ in polynomial.terms)
    return len(polynomial.terms), divided


def extremum(facts: Facts, kind: str, operands: tuple[Polynomial, ...]) -> Polynomial:
    factor = common_factor(operands)
    if factor != number(1) and facts.nonnegative(factor):
        return factor * extremum(facts, kind, tuple(exactly(each, factor) for each in operands))
    choose = minimum if kind == "minimum" else maximum
    kept = list(operands)
    for each in operands:
        others = [other for other in kept if other != each]
        if any(_dominated(facts, kind, each, other) for other in others) or _above_one(facts, kind, each, others):
            kept = others
    return choose(*kept)


def _above_one(facts: Facts, kind: str, each: Polynomial, others: list[Polynomial]) -> bool:
    """Whether it is a minimum rounded up to whole blocks, each part of which is at least one of the others."""
    whole = _before_rounding(facts, each) if kind == "minimum" and len(others) > 1 else None
    least = None if whole is None else whole.atom
    if not isinstance(least, Extremum) or least.kind != "minimum":
        return False
    return all(any(facts.less_equal(other, part) for other in others) for part in least.operands)


def _dominated(facts: Facts, kind: str, each: Polynomial, other: Polynomial) -> bool:
    """Whether `other` makes `each` superfluous."""
    if kind == "minimum":
        whole = _before_rounding(facts, each)
        return facts.less_equal(other, each) or (whole is not None and _below_all(facts, other, whole))
    return facts.less_equal(each, other)


def at_most(facts: Facts, small: Polynomial, large: Polynomial) -> bool:
    """Whether one is certainly at most the other, which may be a minimum, or one rounded up to whole blocks."""
    whole = _before_rounding(facts, large)
    return facts.less_equal(small, large) or _below_all(facts, small, large if whole is None else whole)


def _below_all(facts: Facts, small: Polynomial, large: Polynomial) -> bool:
    """Whether one is at most the other, of a minimum at most each part: each may need another assumption."""
    least = large.atom
    parts = least.operands if isinstance(least, Extremum) and least.kind == "minimum" else (large,)
    return all(facts.less_equal(small, part) for part in parts)


def _before_rounding(facts: Facts, rounded: Polynomial) -> Polynomial | None:
    """x, if this is x rounded up to whole blocks, or 0: B*max(0, (x + B - 1) // B) with B > 0, which is x or more."""
    for atom in rounded.terms[0][0] if len(rounded.terms) == 1 else ():
        count: Atom | None = atom
        if isinstance(atom, Extremum) and atom.kind == "maximum" and number(0) in atom.operands:
            count = next((each.atom for each in atom.operands if each.atom is not None), None)
        size = rounded.divided_by(atomic(atom))
        if isinstance(count, Quotient) and size == count.denominator and facts.positive(size):
            return count.numerator - size + 1
    return None


def common_factor(polynomials: tuple[Polynomial, ...]) -> Polynomial:
    """A monomial (without number) that divides every term of all of them."""
    terms = [monomial for polynomial in polynomials for monomial, _ in polynomial.terms]
    if not terms:
        return number(1)
    shared: Monomial = fold(_shared, terms)
    made = number(1)
    for atom in shared:
        made = made * atomic(atom)
    return made


def _shared(first: Monomial, second: Monomial) -> Monomial:
    rest = list(second)
    kept: list[Atom] = []
    for atom in first:
        if atom in rest:
            rest.remove(atom)
            kept.append(atom)
    return tuple(kept)


def exactly(polynomial: Polynomial, factor: Polynomial) -> Polynomial:
    divided = polynomial.divided_by(factor)
    assert divided is not None
    return divided


def multiples(polynomial: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(whole, rest) with polynomial = whole*divisor + rest, where whole terms of `divisor` multiples are taken out."""
    whole, rest = Polynomial(), Polynomial()
    for term in polynomial.terms:
        single = Polynomial((term,))
        quotient = single.divided_by(divisor)
        whole, rest = (whole + quotient, rest) if quotient is not None else (whole, rest + single)
    return whole, rest


def aligned_quotient(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial:
    """(g*a + r) // (g*b) is a // b where 0 <= r < g and b > 0, for as large a g as there is."""
    for step in _steps(top, bottom):
        whole, rest = multiples(top, step)
        if _aligned(facts, rest, step, bottom):
            return aligned_quotient(facts, whole, exactly(bottom, step))
    whole, rest = multiples(top, bottom)
    return whole + (number(0) if _within(facts, rest, bottom) else floor_divide(rest, bottom))


def aligned_remainder(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial:
    """(g*a + r) % (g*b) is g * (a % b) + r where 0 <= r < g and b > 0, for as large a g as there is."""
    for step in _steps(top, bottom):
        whole, rest = multiples(top, step)
        if _aligned(facts, rest, step, bottom):
            return aligned_remainder(facts, whole, exactly(bottom, step)) * step + rest
    _, rest = multiples(top, bottom)
    return rest if _within(facts, rest, bottom) else remainder(rest, bottom)


def _aligned(facts: Facts, rest: Polynomial, step: Polynomial, bottom: Polynomial) -> bool:
    return _within(facts, rest, step) and _by_ranges(facts, exactly(bottom, step) - 1)


def _within(facts: Facts, rest: Polynomial, step: Polynomial) -> bool:
    """Whether 0 <= rest < step, as ranges of numbers tell, or the last point of all digits."""
    return (_by_ranges(facts, rest) and _by_ranges(facts, step - rest - 1)) or _by_digits(facts, rest, step)


def _by_digits(facts: Facts, rest: Polynomial, step: Polynomial) -> bool:
    """Of i*b + j for i in [0, a) and j in [0, b): the last one is a*b - 1."""
    last = {atom: facts.highs[atom][0] for atom in rest.atoms() if len(facts.highs.get(atom, ())) == 1}
    for term, factor in rest.terms:
        if factor < 0 or not all(atom in last or isinstance(atom, Symbol) for atom in term):
            return False
        if not all(_by_ranges(facts, atomic(atom)) for atom in term):
            return False
    remains = (step - rest.substitute(last) - 1).constant
    return remains is not None and remains >= 0


def _by_ranges(facts: Facts, polynomial: Polynomial) -> bool:
    low = facts.bounds(polynomial).low
    return low is not None and low >= 0


def _steps(top: Polynomial, bottom: Polynomial) -> list[Polynomial]:
    """The greatest common divisors of the divisor, a single term, and terms of the dividend, but 1."""
    if len(bottom.terms) != 1:
        return []
    ((monomial, factor),) = bottom.terms
    found = {}
    for term, coefficient in top.terms:
        step = Polynomial(((_shared(term, monomial), gcd(coefficient, factor)),))
        found[step] = (len(step.terms[0][0]), step.terms[0][1])
    return sorted((step for step in found if step != number(1)), key=lambda step: found[step], reverse=True)
