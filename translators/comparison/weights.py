"""Quotients and products of which one operand is NaN wherever something would count in the other.

A weight exp(x - m) relative to the maximum m of a row is NaN where m is -inf or NaN, if x is an element of the row or
-inf. Then so is the weight divided by anything, so that what divides it counts only where m is neither: there
exp(y - m) is 0 for a y of -inf, and a sum of such weights leaves out what a mask leaves out of the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from intent.dtypes import index
from translators.comparison.binding import opened
from translators.comparison.conditions import conjuncts, in_bounds
from translators.comparison.terms import Term, constant, walk

if TYPE_CHECKING:
    from translators.comparison.rules import Rules

EXPONENTIALS = ("exp", "exp2")


def beside(rules: Rules, term: Term, other: Term) -> Term:
    """The term as far as it counts in a product or quotient with the other operand."""
    if not term.height:
        return term
    for peak in dict.fromkeys(_peaks(rules, other)):
        found = {
            each: made
            for each in walk(term)
            if each.function in EXPONENTIALS and (made := _weight(rules, each, peak)) is not None
        }
        term = rules.rebuilt(term, found) if found else term
    return term


def _peaks(rules: Rules, factor: Term) -> Iterator[Term]:
    """The maxima for which the factor, a weight, is NaN if they are -inf or NaN."""
    if factor.function not in EXPONENTIALS:
        return
    for element, peak in _relative(factor):
        low = constant(element.dtype, float("-inf"))
        chosen = element.operation == "select" and element.operands[2] == low
        condition, value = element.operands[:2] if chosen else (None, element)
        if any(_is_element(rules, value, condition, peak, place) for place in _places(value)):
            yield peak


def _relative(weight: Term) -> Iterator[tuple[Term, Term]]:
    """(x, m) of exp(x - m), where m is the maximum of a row."""
    (exponent,) = weight.operands
    if exponent.function != "add" or len(exponent.operands) != 2:
        return
    for element, other in (exponent.operands, exponent.operands[::-1]):
        peak = other.operands[0] if other.function == "negative" else other
        if peak is not other and peak.operation == "reduce" and peak.detail[0] == "max" and peak.dtype.is_float:
            yield element, peak


def _weight(rules: Rules, weight: Term, peak: Term) -> Term | None:
    """exp(y - m) where c, else 0, for the weight of y where c, else -inf."""
    for element, other in _relative(weight):
        low = constant(element.dtype, float("-inf"))
        if other == peak and element.operation == "select" and element.operands[2] == low:
            condition, value, _ = element.operands
            exponent = rules.make("pointwise", weight.dtype, (value, rules.negative(peak)), ("add", False, False))
            made = rules.make("pointwise", weight.dtype, (exponent,), weight.detail)
            return rules.make("select", weight.dtype, (condition, made, constant(weight.dtype, 0.0)))
    return None


def _places(value: Term) -> Iterator[Term]:
    """The coordinates of what is read."""
    for load in (each for each in walk(value) if each.operation == "load"):
        rank = load.detail[1]
        assert isinstance(rank, int)
        yield from (each for each in load.operands[:rank] if each.dtype == index)


def _is_element(rules: Rules, value: Term, condition: Term | None, peak: Term, place: Term) -> bool:
    """Whether the value is the row's element at this place, which is one of the row where the condition holds."""
    row = opened(rules, peak)
    if len(row.variables) != 1:
        return False
    (variable,) = row.variables
    (body,) = row.parts
    if rules.rebuilt(body, {variable: place}) != value:
        return False
    known = set(conjuncts(condition)) if condition is not None else set()
    return in_bounds((place,), variable.operands, rules.facts) <= known
