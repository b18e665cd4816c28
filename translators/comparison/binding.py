"""Binders: variables that a reduction, a scan, an equation or an effect runs over lose their names.

A closed binder of n variables has a height h, n more than the tallest binder within, and its variables are
`bound(h - n + 1) ... bound(h)`; so nothing can be captured, and a term says the same in every place. Which variable
gets which number is decided by how they are used; of uses that no simple comparison tells apart, every order is tried
and the first by key is taken.

Operands of a binder begin with the extents of its variables; its detail ends with (how many, height).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING

from intent.dtypes import DType, index
from intent.records import dataclass, replace
from translators.comparison.terms import Detail, Term, raw, walk
from translators.diagnostics import Span

if TYPE_CHECKING:
    from translators.comparison.rules import Rules

MOST_ORDERS = 24  # of variables whose uses look alike; more are left in the order in which they came
Naming = Callable[[Term, tuple[Term, ...]], Term]  # a variable and its renamed operands -> its new name


@dataclass(frozen=True, slots=True)
class Open:
    """A binder whose variables have names: the parts mention `variables`."""

    operation: str
    dtype: DType
    variables: tuple[Term, ...]
    parts: tuple[Term, ...]
    detail: Detail
    span: Span | None = None


def close(rules: Rules, binder: Open) -> Term:
    """The closed binder, with its variables in canonical order."""
    base = _height(binder.variables, binder.parts)
    while True:
        orders = _orders(rules, binder)
        best = min((_numbered(rules, binder, order, base) for order in orders), key=lambda made: made.key)
        inner = max((operand.height for operand in best.operands), default=0)
        if inner == base:
            return best
        base = inner  # renaming made the inside simpler


def _height(variables: Sequence[Term], parts: Sequence[Term]) -> int:
    inside = (*(operand for variable in variables for operand in variable.operands), *parts)
    return max((each.height for each in inside), default=0)


def _numbered(rules: Rules, binder: Open, order: Sequence[Term], base: int) -> Term:
    numbers = {variable: base + position for position, variable in enumerate(order, 1)}

    def name(variable: Term, operands: tuple[Term, ...]) -> Term:
        return rules.ranged(raw("bound", index, operands, (numbers[variable], variable.detail[1])))

    mapping = renaming(rules, binder.variables, name)
    extents = tuple(mapping[variable].operands[0] for variable in order)
    parts = tuple(rules.rebuilt(part, mapping) for part in binder.parts)
    detail = (*binder.detail, len(order), base + len(order))
    return raw(binder.operation, binder.dtype, (*extents, *parts), detail, binder.span)


def renaming(rules: Rules, variables: Sequence[Term], name: Naming) -> dict[Term, Term]:
    """New names, also within the ranges of variables that mention other variables."""
    mapping: dict[Term, Term] = {}
    waiting = list(variables)
    while waiting:
        keys = {each.key for each in waiting}
        variable = next(each for each in waiting if not any(keys & operand.free for operand in each.operands))
        mapping[variable] = name(variable, tuple(rules.rebuilt(each, mapping) for each in variable.operands))
        waiting.remove(variable)
    return mapping


# --------------------------------------------------------------------------------------------------------------- order
def _orders(rules: Rules, binder: Open) -> Iterator[tuple[Term, ...]]:
    """The orders that remain after sorting the variables by how each is used."""
    if len(binder.variables) < 2:
        yield binder.variables
        return
    groups: dict[str, list[Term]] = {}
    for variable in binder.variables:
        groups.setdefault(_use(rules, binder, variable), []).append(variable)
    tied = [groups[key] for key in sorted(groups)]
    if prod(factorial(len(group)) for group in tied) > MOST_ORDERS:
        yield tuple(variable for group in tied for variable in group)
        return
    for choice in product(*(permutations(group) for group in tied)):
        yield tuple(variable for group in choice for variable in group)


def _use(rules: Rules, binder: Open, variable: Term) -> str:
    """A digest of the binder in which only this variable can be told from the others."""

    def name(each: Term, operands: tuple[Term, ...]) -> Term:
        said = "this" if each == variable else "other"
        return rules.ranged(raw("variable", index, operands, (said, each.detail[1])))

    mapping = renaming(rules, binder.variables, name)
    parts = [rules.rebuilt(part, mapping) for part in binder.parts]
    return " ".join(each.key for each in (mapping[variable], *parts))


# ------------------------------------------------------------------------------------------------------------- opening
def opened(rules: Rules, term: Term) -> Open:
    """The binder with fresh variables."""
    count, top = _count(term)
    mapping: dict[Term, Term] = {}
    olds = _variables(term, count, top)
    for old in olds:
        mapping[old] = rules.fresh(old, tuple(rules.rebuilt(each, mapping) for each in old.operands))
    parts = tuple(rules.rebuilt(part, mapping) for part in term.operands[count:])
    return Open(term.operation, term.dtype, tuple(mapping[old] for old in olds), parts, term.detail[:-2], term.span)


def _count(term: Term) -> tuple[int, int]:
    count, top = term.detail[-2:]
    assert isinstance(count, int) and isinstance(top, int)
    return count, top


def _variables(term: Term, count: int, top: int) -> list[Term]:
    """The bound variables as the term has them, those that others mention first."""
    used = {each.detail[0]: each for each in walk(*term.operands) if each.operation == "bound"}
    numbers = range(top - count + 1, top + 1)
    made = [
        used.get(number) or raw("bound", index, (extent,), (number, "axis"))
        for number, extent in zip(numbers, term.operands[:count], strict=True)
    ]
    ordered: list[Term] = []
    while made:
        first = next(each for each in made if not any(other in walk(*each.operands) for other in made))
        ordered.append(first)
        made.remove(first)
    return ordered


def rebound(rules: Rules, term: Term, operands: tuple[Term, ...]) -> Term:
    """A closed binder some of whose operands have changed, other than by renaming its own variables."""
    from translators.comparison.reductions import reduced
    from translators.comparison.systems import system_rebound

    if term.operation == "system":
        return system_rebound(rules, term, operands)
    count, top = _count(term)
    inner = max((operand.height for operand in operands), default=0)
    changed = replace(raw(term.operation, term.dtype, operands, (*term.detail[:-1], top)), span=term.span)
    if count > 1 or (count == 1 and inner != top - 1):
        changed = close(rules, opened(rules, changed))
    elif count == 0:
        changed = raw(term.operation, term.dtype, operands, (*term.detail[:-1], inner), term.span)
    return reduced(rules, changed) if term.operation == "reduce" else changed
