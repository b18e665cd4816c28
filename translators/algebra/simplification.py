"""Quotients, remainders and extrema made simpler by facts; the value stays the same."""

from __future__ import annotations

from functools import reduce as fold

from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Monomial,
    Polynomial,
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
    whole, rest = multiples(top, bottom)
    if facts.nonnegative(rest) and facts.less(rest, bottom):
        return whole
    rounded = _rounded_up(facts, rest, bottom)
    if rounded is not None:
        return whole + rounded
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


def remaining(facts: Facts, top: Polynomial, bottom: Polynomial) -> Polynomial:
    _, rest = multiples(top, bottom)
    if facts.nonnegative(rest) and facts.less(rest, bottom):
        return rest
    return remainder(rest, bottom)


def extremum(facts: Facts, kind: str, operands: tuple[Polynomial, ...]) -> Polynomial:
    factor = common_factor(operands)
    if factor != number(1) and facts.nonnegative(factor):
        return factor * extremum(facts, kind, tuple(exactly(each, factor) for each in operands))
    choose = minimum if kind == "minimum" else maximum
    kept = list(operands)
    for each in operands:
        others = [other for other in kept if other != each]
        if others and any(_dominated(facts, kind, each, other) for other in others):
            kept = others
    return choose(*kept)


def _dominated(facts: Facts, kind: str, each: Polynomial, other: Polynomial) -> bool:
    """Whether `other` makes `each` superfluous."""
    if kind == "minimum":
        return facts.less_equal(other, each)
    return facts.less_equal(each, other)


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
