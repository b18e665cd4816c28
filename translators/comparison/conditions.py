"""Conditions in normal form: negation stands at the leaves, conjunctions and disjunctions are flat and ordered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.dtypes import boolean, index
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Polynomial, atomic
from translators.comparison.coordinates import comparison
from translators.comparison.terms import Term, constant, integer, pointwise, truth

OPPOSITE = {"and": "or", "or": "and"}


def logical(function: str, operands: Sequence[Term]) -> Term:
    match function, operands:
        case "not", (operand,):
            return negated(operand)
        case "xor", (left, right):
            return _exclusive(left, right)
        case _:
            return _joined(function, operands)


def negated(condition: Term) -> Term:
    """Only what has no opposite keeps a `not`: a comparison of floats (a NaN is neither less nor not less), a value."""
    if condition.truth is not None:
        return truth(not condition.truth)
    if condition.function == "not":
        return condition.operands[0]
    if condition.function in OPPOSITE and condition.dtype == boolean:
        return _joined(OPPOSITE[condition.function], [negated(each) for each in condition.operands])
    if condition.function == "less" and condition.operands[0].dtype == index:
        left, right = condition.operands
        return comparison("less", right.polynomial - left.polynomial - 1, Facts())  # not d < 0 is -d - 1 < 0
    return pointwise("not", boolean, condition)


def _exclusive(left: Term, right: Term) -> Term:
    for known, other in ((left, right), (right, left)):
        if known.truth is not None:
            return negated(other) if known.truth else other
    if left == right:
        return truth(False)
    return pointwise("xor", boolean, *sorted((left, right), key=lambda each: each.key))


def _joined(function: str, operands: Sequence[Term]) -> Term:
    absorbing = function == "or"
    flat: dict[Term, None] = {}
    for operand in operands:
        for each in operand.operands if operand.function == function else (operand,):
            if each.truth is None:
                flat.setdefault(each)
            elif each.truth is absorbing:
                return truth(absorbing)
    if any(negated(each) in flat for each in flat):
        return truth(absorbing)
    kept = _absorbed(list(flat), OPPOSITE[function])
    if not kept:
        return truth(not absorbing)
    return kept[0] if len(kept) == 1 else pointwise(function, boolean, *sorted(kept, key=lambda each: each.key))


def with_equations(condition: Term, facts: Facts) -> Term:
    """A conjunction without comparisons of coordinates that hold wherever its equations do."""
    parts = conjuncts(condition)
    equations = [(each, *found) for each in parts if (found := _solved(each)) is not None]
    kept = list(parts)
    for equation, atom, value in equations:
        for each in [each for each in kept if each != equation and each.function == "less"]:
            if each.operands[0].dtype != index or atom not in each.operands[0].polynomial.atoms():
                continue
            difference = each.operands[0].polynomial - each.operands[1].polynomial
            if comparison("less", difference.substitute({atom: value}), facts) == truth(True):
                kept.remove(each)
    return condition if len(kept) == len(parts) else _joined("and", kept)


def _solved(condition: Term) -> tuple[Term, Polynomial] | None:
    """(what is no variable, what it is equal to) of an equation between coordinates."""
    if condition.function != "equal" or condition.operands[0].dtype != index:
        return None
    difference = condition.operands[0].polynomial - condition.operands[1].polynomial
    for monomial, factor in difference.terms:
        atom = monomial[0] if len(monomial) == 1 else None
        if not isinstance(atom, Term) or atom.operation in ("variable", "bound") or abs(factor) != 1:
            continue
        rest = (difference - atomic(atom) * factor) * -factor
        if atom not in rest.atoms():
            return atom, rest
    return None


def _absorbed(operands: list[Term], opposite: str) -> list[Term]:
    """a and (a or b) is a; a or (a and b) is a."""
    present = set(operands)
    return [each for each in operands if each.function != opposite or not present & set(each.operands)]


def conjuncts(condition: Term) -> tuple[Term, ...]:
    return condition.operands if condition.function == "and" else (condition,)


def known(condition: Term, value: bool) -> Iterator[tuple[Term, Term]]:
    """What is known of conditions where this one has the value."""
    yield condition, truth(value)
    opposite = negated(condition)
    if opposite.function != "not":
        yield opposite, truth(not value)
    if condition.function == ("and" if value else "or"):
        for each in condition.operands:
            yield from known(each, value)
    if condition.function == "not":
        yield from known(condition.operands[0], not value)


def in_bounds(coordinates: Sequence[Term], extents: Sequence[Term], facts: Facts) -> set[Term]:
    """The conditions that say no more than that an access is within its memory."""
    found: set[Term] = set()
    for coordinate, extent in zip(coordinates, extents, strict=True):
        found.update(conjuncts(comparison("less", coordinate.polynomial - extent.polynomial, facts)))
        found.update(conjuncts(comparison("less_equal", -coordinate.polynomial, facts)))
    return found - {truth(True)}


__all__ = ["conjuncts", "constant", "in_bounds", "integer", "known", "logical", "negated"]
