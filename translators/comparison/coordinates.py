"""Coordinates and sizes in normal form, and comparisons between them as one polynomial and a sign."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd
from typing import Final

from intent.dtypes import boolean
from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Extremum,
    Polynomial,
    Quotient,
    Remainder,
    atomic,
    floor_divide,
    maximum,
    minimum,
    number,
    polynomial_key,
    remainder,
)
from translators.algebra.simplification import extremum, quotient, remaining
from translators.comparison.terms import Term, integer, pointwise, truth

MOST_OPERANDS: Final = 8  # of an extremum that others are part of


def simplified(polynomial: Polynomial, facts: Facts) -> Polynomial:
    """Without the quotients, remainders and extrema that a fact decides."""

    def atom(found: Atom) -> Polynomial | None:
        match found:
            case Quotient(top, bottom):
                return quotient(facts, simplified(top, facts), simplified(bottom, facts))
            case Remainder(top, bottom):
                return remaining(facts, simplified(top, facts), simplified(bottom, facts))
            case Extremum(kind, operands):
                base, made = _flat(kind, [simplified(each, facts) for each in operands])
                shared = _shared_terms(made)
                return base + shared + _signed(extremum(facts, kind, tuple(each - shared for each in made)))
            case _:
                return None

    return polynomial.rebuild(atom)


def _flat(kind: str, operands: Sequence[Polynomial]) -> tuple[Polynomial, list[Polynomial]]:
    """(what all operands have in common, the rest of each), without extrema of the same kind within them:
    max(x, y + max(a, b)) is max(x, y + a, y + b), and max(x, y - max(a, b)) is max(x + a, x + b, y) - max(a, b).
    """
    base, made = number(0), list(dict.fromkeys(operands))
    for _ in range(MOST_OPERANDS):
        found = next(((atom, factor) for each in made for atom, factor in _inner(kind, each)), None)
        if found is None:
            break
        atom, factor = found
        if factor < 0:
            base, made = base - atomic(atom), [each + atomic(atom) for each in made]
        flat = dict.fromkeys(each for operand in made for each in _with_operands_of(atom, operand))
        if len(flat) > MOST_OPERANDS:
            return number(0), list(operands)
        made = list(flat)
    return base, made


def _inner(kind: str, operand: Polynomial) -> Iterator[tuple[Extremum, int]]:
    """The extrema that are added or subtracted, with the sign."""
    for monomial, factor in operand.terms:
        if len(monomial) == 1 and isinstance(monomial[0], Extremum) and monomial[0].kind == kind and factor in (1, -1):
            yield monomial[0], factor


def _with_operands_of(atom: Extremum, operand: Polynomial) -> Iterator[Polynomial]:
    if operand.coefficient(atom) == number(1):
        yield from (operand - atomic(atom) + each for each in atom.operands)
    else:
        yield operand


def _signed(made: Polynomial) -> Polynomial:
    """max(c, y) is y + max(0, c - y), and so for a minimum: of the two the one whose first term is not negative."""
    atom = made.atom
    if not isinstance(atom, Extremum):
        return made
    if len(atom.operands) > 2:
        return _from_pivot(atom)
    first, second = sorted(atom.operands, key=lambda each: each.constant is None)
    base, choose = first.constant, maximum if atom.kind == "maximum" else minimum
    factors = [factor for monomial, factor in second.terms if monomial]
    if base is None or not factors or factors[0] > 0:
        return made
    return second + choose(number(0), base - second)


def _from_pivot(atom: Extremum) -> Polynomial:
    """p + max(0, x - p, y - p): for the same p, whatever is added to all operands."""
    ways = [sorted((each - pivot for each in atom.operands), key=polynomial_key) for pivot in atom.operands]
    best = min(range(len(ways)), key=lambda way: (_size(ways[way]), repr([polynomial_key(each) for each in ways[way]])))
    return atom.operands[best] + atom.with_operands(tuple(ways[best]))


def _size(polynomials: Sequence[Polynomial]) -> tuple[int, int]:
    """How many terms, and how many of them are subtracted."""
    factors = [factor for each in polynomials for _, factor in each.terms]
    return len(factors), sum(factor < 0 for factor in factors)


def _shared_terms(polynomials: Sequence[Polynomial]) -> Polynomial:
    """The terms that all of them have, with one factor."""
    common = set(polynomials[0].terms).intersection(*(each.terms for each in polynomials[1:]))
    return Polynomial(tuple(term for term in polynomials[0].terms if term in common))


def length(extent: Polynomial, facts: Facts) -> Polynomial:
    """A number of elements, of which less than 0 is none: max(a, b) - a is b - a, also within a minimum."""
    for atom in _growing(extent):
        for operand in atom.operands:
            if facts.nonnegative(-extent.substitute({atom: operand})):
                kept = [each for each in atom.operands if each != operand]
                return length(simplified(extent.substitute({atom: maximum(*kept)}), facts), facts)
    return extent


def _growing(extent: Polynomial) -> list[Extremum]:
    """The maxima with which it only grows."""
    found: list[Extremum] = []
    for monomial, factor in extent.terms:
        match monomial:
            case (Extremum("maximum") as atom,) if factor > 0:
                found.append(atom)
            case (Extremum("minimum", operands),) if factor > 0:
                found.extend(atom for each in operands for atom in _growing(each))
            case _:
                pass
    return [each for each in found if _mentions_once(extent, each)]


def _mentions_once(extent: Polynomial, atom: Extremum) -> bool:
    return sum(each == atom for each in _every(extent)) == 1


def _every(polynomial: Polynomial) -> Iterator[Atom]:
    for monomial, _ in polynomial.terms:
        for atom in monomial:
            yield atom
            if isinstance(atom, Quotient | Remainder | Extremum):
                for operand in atom.operands:
                    yield from _every(operand)


def arithmetic(function: str, operands: Sequence[Polynomial]) -> Polynomial | None:
    """The polynomial of an operation on coordinates, None if it has none."""
    match function, operands:
        case "add", (left, right):
            return left + right
        case "subtract", (left, right):
            return left - right
        case "multiply", (left, right):
            return left * right
        case "negative", (operand,):
            return -operand
        case "floor_divide", (left, right):
            return floor_divide(left, right)
        case "remainder", (left, right):
            return remainder(left, right)
        case "maximum" | "maximum_num", _:
            return maximum(*operands)
        case "minimum" | "minimum_num", _:
            return minimum(*operands)
        case _:
            return None


def comparison(function: str, difference: Polynomial, facts: Facts) -> Term:
    """less, less_equal or equal of a difference and 0: `less(d, 0)` and `equal(d, 0)` are all that is left of them."""
    if function == "less_equal":
        function, difference = "less", difference - 1
    counts = [atom for atom in difference.atoms() if isinstance(atom, Term) and _is_count(atom)]
    for count in counts:
        facts = facts.with_bounds(count, 0)
    difference = simplified(difference, facts)
    known = _decided(function, difference, facts)
    if known is not None:
        return truth(known)
    if function == "equal":
        return _equal(difference)
    parts = _of_all_parts(difference)
    if parts is not None:
        from translators.comparison.conditions import logical

        return logical("and", [comparison(function, each, facts) for each in parts])
    shared = _content(difference)
    offset = difference.offset
    reduced = (difference - offset).divided_by(number(shared))
    assert reduced is not None
    return pointwise("less", boolean, integer(reduced + offset // shared), integer(0))  # g*p + c < 0 is p + c//g < 0


def _is_count(term: Term) -> bool:
    """How many conditions hold."""
    if term.operation != "reduce" or term.detail[0] != "sum":
        return False
    body = term.operands[-1]
    return body.operation == "cast" and body.operands[0].dtype == boolean


def _of_all_parts(difference: Polynomial) -> list[Polynomial] | None:
    """The polynomials that are all below 0 where x - min(a, b) or x + max(a, b) is."""
    for monomial, factor in difference.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if isinstance(atom, Extremum) and (atom.kind == "maximum") == (factor > 0):
            rest = difference - atomic(atom) * factor
            return [rest + each * factor for each in atom.operands]
    return None


def _decided(function: str, difference: Polynomial, facts: Facts) -> bool | None:
    if function == "less":
        if facts.positive(-difference):
            return True
        return False if facts.nonnegative(difference) else None
    if facts.equal(difference, 0):
        return True
    return False if facts.positive(difference) or facts.positive(-difference) else None


def _content(difference: Polynomial) -> int:
    """The greatest number that divides every term but the constant one."""
    return gcd(*(factor for monomial, factor in difference.terms if monomial)) or 1


def _equal(difference: Polynomial) -> Term:
    """Of d == 0 and -d == 0 the one that comes first; a truth value compared with a number is a condition."""
    shared = _content(difference)
    if difference.offset % shared:
        return truth(False)
    reduced = difference.divided_by(number(shared))
    assert reduced is not None
    flag = _flag(reduced)
    if flag is not None:
        return flag
    chosen = min(reduced, -reduced, key=lambda each: repr(polynomial_key(each)))
    return pointwise("equal", boolean, integer(chosen), integer(0))


def _flag(difference: Polynomial) -> Term | None:
    """index(condition) == 0 or 1."""
    from translators.comparison.conditions import negated

    if len(difference.terms) > 2:
        return None
    atoms = [monomial for monomial, _ in difference.terms if monomial]
    atom = atoms[0][0] if len(atoms) == 1 and len(atoms[0]) == 1 else None
    if not isinstance(atom, Term) or atom.operation != "cast" or atom.operands[0].dtype != boolean:
        return None
    scale = next(factor for monomial, factor in difference.terms if monomial)
    (condition,) = atom.operands
    value = -difference.offset * scale  # scale is 1 or -1 once the content is gone
    if value in (0, 1):
        return condition if value else negated(condition)
    return truth(False)
