"""Conjunctions in which something that is no coordinate is equal to one.

i32(n) == c where 0 <= n < 64          is n == c: the conversion changes no number of that range
n == c where lower <= n                is n == c if lower <= c for every c that there is
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent import dtypes as d
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Extremum, Polynomial, atomic
from translators.lifting.rewriting import conjunction, conjuncts, where
from translators.lifting.sums import parts_of_sum
from translators.tile.expression import Arena, Expression
from translators.tile.substitution import as_index


def equated(arena: Arena, facts: Facts, node: Expression) -> Expression | None:
    """The conjunction with its equations between wider numbers, and without bounds that follow from an equation."""
    parts = list(conjuncts(node))
    if not any(_is_equation(each) for each in parts):
        return None
    made = [_widened(arena, facts, each, parts) if _is_equation(each) else each for each in parts]
    for equation in [each for each in made if _is_equation(each)]:
        for atom, value in _solutions(_difference(equation)):
            made = [each for each in made if each is equation or not _follows(facts, each, atom, value)]
    return conjunction(arena, made) if made != parts else None


def _is_equation(condition: Expression) -> bool:
    """Of coordinates with something that is none."""
    if condition.operation != "pointwise" or condition.attribute[0] != "equal":
        return False
    return condition.arguments[0].dtype == d.index and any(map(_is_value, _difference(condition).atoms()))


def _is_value(atom: Atom) -> bool:
    return isinstance(atom, Expression | Extremum)


def _difference(condition: Expression) -> Polynomial:
    left, right = condition.arguments
    return left.polynomial - right.polynomial


def _widened(arena: Arena, facts: Facts, equation: Expression, parts: Sequence[Expression]) -> Expression:
    narrow = [atom for atom in _difference(equation).atoms() if isinstance(atom, Expression) and _narrows(atom)]
    if not narrow:
        return equation
    for part in parts:
        facts = facts if part is equation else where(facts, part)
    found: dict[Atom, Polynomial] = {}
    for atom in narrow:
        value, least = parts_of_sum(atom.arguments[0]), -(1 << (atom.dtype.bits - 1)) if atom.dtype.is_signed else 0
        if facts.nonnegative(value - least) and facts.less(value, least + (1 << atom.dtype.bits)):
            found[atom] = value
    difference = _difference(equation).substitute(found)
    if not found:
        return equation
    zero = as_index(arena, Polynomial())
    return arena.make("pointwise", d.boolean, (as_index(arena, difference), zero), equation.attribute)


def _narrows(atom: Expression) -> bool:
    if atom.operation != "cast" or atom.dtype == d.index or not atom.dtype.is_integer:
        return False
    inner = atom.arguments[0].dtype
    return inner.is_integer and inner != d.index and inner.bits > atom.dtype.bits


def _solutions(difference: Polynomial) -> Iterator[tuple[Atom, Polynomial]]:
    """(what is no coordinate, what it is equal to) where the difference is 0."""
    for monomial, factor in difference.terms:
        if len(monomial) == 1 and abs(factor) == 1 and _is_value(monomial[0]):
            value = (difference - atomic(monomial[0]) * factor) * -factor
            if monomial[0] not in value.atoms():
                yield monomial[0], value


def _follows(facts: Facts, condition: Expression, atom: Atom, value: Polynomial) -> bool:
    """Whether a comparison holds wherever the atom has that value."""
    if condition.operation != "pointwise" or condition.attribute[0] != "less":
        return False
    if condition.arguments[0].dtype != d.index or atom not in _difference(condition).atoms():
        return False
    return facts.positive(-_difference(condition).substitute({atom: value}))
