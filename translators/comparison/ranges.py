"""Conditions on one coordinate as its range, and coordinates that are only used in parts as several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from intent.dtypes import index
from translators.algebra.polynomial import Polynomial, Quotient, Remainder, atomic, maximum, minimum, number
from translators.comparison.terms import Term, walk

if TYPE_CHECKING:
    from translators.comparison.rules import Rules

Mapping = dict[Term, Term]


def narrowed(
    rules: Rules, variables: tuple[Term, ...], conditions: Sequence[Term]
) -> tuple[tuple[Term, ...], Mapping, list[Term]]:
    """The variables with the ranges that the conditions leave, what the old ones are, and the conditions that remain.

    Only a bound that no variable varies with counts, so that it does not matter which condition is seen first.
    """
    lows: dict[Term, list[Polynomial]] = {}
    highs: dict[Term, list[Polynomial]] = {}
    rest: list[Term] = []
    for condition in conditions:
        if not _as_bound(variables, condition, lows, highs):
            rest.append(condition)
    mapping: Mapping = {}
    made: list[Term] = []
    for variable in variables:
        if variable not in lows and variable not in highs:
            made.append(variable)
            continue
        low = maximum(number(0), *lows.get(variable, ()))
        high = minimum(variable.operands[0].polynomial, *highs.get(variable, ()))
        extent = rules.polynomial(high - rules.polynomial(low).polynomial)
        made.append(rules.variable(extent, str(variable.detail[1]), *variable.operands[1:]))
        mapping[variable] = rules.polynomial(atomic(made[-1]) + low)
    return tuple(made), mapping, rest


def _as_bound(
    variables: Sequence[Term], condition: Term, lows: dict[Term, list[Polynomial]], highs: dict[Term, list[Polynomial]]
) -> bool:
    """v + r < 0 is v < -r; r - v < 0 is v >= r + 1."""
    if condition.function != "less" or condition.operands[0].dtype != index:
        return False
    difference = condition.operands[0].polynomial - condition.operands[1].polynomial
    own = [variable for variable in variables if variable.key in condition.free]
    if len(own) != 1 or own[0].detail[1] != "axis":
        return False
    (variable,) = own
    if variable.operands[0].free & {each.key for each in variables}:
        return False
    factor = difference.coefficient(variable)
    scale = factor.constant if factor is not None else None
    if scale not in (1, -1):
        return False
    rest = difference - atomic(variable) * scale
    if any(variable.key in atom.free for atom in rest.atoms() if isinstance(atom, Term)):
        return False
    if scale == 1:
        highs.setdefault(variable, []).append(-rest)
    else:
        lows.setdefault(variable, []).append(rest + 1)
    return True


def split(rules: Rules, variables: tuple[Term, ...], parts: Sequence[Term]) -> tuple[tuple[Term, ...], Mapping]:
    """A coordinate of which quotient and remainder by a divisor of its extent are used, as two: u*d + w.

    Gives the variables and what the old one is; an empty mapping if there is none.
    """
    divisors = _divisors(set(variables), parts)
    for variable in variables:
        extent = variable.operands[0].polynomial
        for divisor in divisors.get(variable, ()):
            outer = extent.divided_by(divisor)
            if outer is None or variable.detail[1] != "axis":
                continue
            high = rules.variable(rules.polynomial(outer))
            low = rules.variable(rules.polynomial(divisor))
            mapping = {variable: rules.polynomial(atomic(high) * divisor + atomic(low))}
            kept = [rules.rebuilt(each, mapping) for each in variables if each != variable]
            return (*kept, high, low), mapping
    return variables, {}


def _divisors(variables: set[Term], parts: Sequence[Term]) -> dict[Term, list[Polynomial]]:
    found: dict[Term, list[Polynomial]] = {}
    for term in walk(*parts):
        if term.operation != "integer":
            continue
        for atom in term.polynomial.atoms():
            if not isinstance(atom, Quotient | Remainder) or atom.denominator.constant == 1:
                continue
            top = atom.numerator.atom
            if isinstance(top, Term) and top in variables and not _mentions(atom.denominator, variables):
                found.setdefault(top, []).append(atom.denominator)
    return {variable: sorted(set(each), key=lambda one: -len(one.terms)) for variable, each in found.items()}


def _mentions(polynomial: Polynomial, variables: set[Term]) -> bool:
    keys = {variable.key for variable in variables}
    return any(keys & atom.free for atom in polynomial.atoms() if isinstance(atom, Term))
