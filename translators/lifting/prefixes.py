"""Reductions over parts of an axis: neighbouring parts join, and a reduction that picks one element is that element.

    sum over [a, b) of f  +  sum over [b, c) of f   is   sum over [a, c) of f
    sum over [a, b) of f  +  f(b)                   is   sum over [a, b + 1) of f
    sum over j of (f(j) if j == e else 0)           is   f(e)

The first two need a <= b <= c, the last one needs e within the range.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from intent import dtypes as d
from intent.records import replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Extremum, Polynomial, atomic, minimum, number, recombined
from translators.tile.expression import REDUCTIONS, Arena, Axis, Expression, Reduction, having
from translators.tile.substitution import Rebuilding, as_index

_KINDS: Final[Mapping[str, str]] = {
    "add": "sum", "multiply": "product", "maximum": "max", "maximum_num": "max_num", "minimum": "min",
    "minimum_num": "min_num", "or": "any", "and": "all",
}  # fmt: skip
MOST_EXACT: Final = 2**20


def joined(arena: Arena, facts: Facts, node: Expression) -> Expression | None:
    """One reduction for function(left, right), if they are of neighbouring parts."""
    kind = _KINDS.get(node.attribute[0])
    if kind is None or len(node.arguments) != 2:
        return None
    left, right = node.arguments
    for first, second in ((left, right), (right, left)):
        if _is_part(first, kind) and _is_part(second, kind):
            made = _neighbours(arena, facts, first, second)
        elif _is_part(first, kind) and _is_prefix(first):
            made = _with_element(arena, facts, first, second)
        else:
            made = None
        if made is not None:
            return made
    return None


def _is_part(node: Expression, kind: str) -> bool:
    return node.operation == "reduce" and node.attribute.kind == kind and len(node.attribute.axes) == 1


def _is_prefix(node: Expression) -> bool:
    (axis,) = node.attribute.axes
    return any(isinstance(atom, Axis) for bound in (axis.begin, axis.end) for atom in bound.atoms())


def _neighbours(arena: Arena, facts: Facts, first: Expression, second: Expression) -> Expression | None:
    """Also where the second part counts from another place than where the first one ends."""
    (low,), (high,) = first.attribute.axes, second.attribute.axes
    (body,) = second.arguments
    shift = _distance(low, high)
    if shift is None:
        if _is_prefix(first) or _is_prefix(second):
            return None
        shift = low.end - high.begin
    end = recombined(high.end + shift)
    if not _ordered(facts, low.begin, low.end, end):
        return None
    if not alike(arena, _at(arena, first, atomic(high) + shift), body):
        return None
    return _over(arena, first, low.begin, end)


def _distance(low: Axis, high: Axis) -> Polynomial | None:
    """How much further the first part counts, if it ends where the second one begins, or the second one is empty."""
    least = low.end.atom
    ends = least.operands if isinstance(least, Extremum) and least.kind == "minimum" else ()
    shifts = (end - high.begin for end in ends)
    for shift in dict.fromkeys((number(0), *(each for each in shifts if each.constant is not None))):
        begin, end = high.begin + shift, recombined(high.end + shift)
        if low.end in (begin, minimum(begin, end)):
            return shift
    return None


def _with_element(arena: Arena, facts: Facts, part: Expression, element: Expression) -> Expression | None:
    (axis,) = part.attribute.axes
    if not facts.less_equal(axis.begin, axis.end):
        return None
    if _at(arena, part, axis.end) is element:
        return _over(arena, part, axis.begin, axis.end + 1)
    if _at(arena, part, axis.begin - 1) is element:
        return _over(arena, part, axis.begin - 1, axis.end)
    return None


def _ordered(facts: Facts, *places: Polynomial) -> bool:
    return all(facts.less_equal(low, high) for low, high in pairwise(places))


def alike(arena: Arena, first: Expression, second: Expression) -> bool:
    """Whether they are one expression but for the names of what their reductions bind."""
    if first is second:
        return True
    ones, others = (list(having(REDUCTIONS, each)) for each in (first, second))
    if first.operation != second.operation or not ones or len(ones) != len(others):
        return False
    names: dict[Atom, Polynomial] = {}
    for one, other in zip(ones, others, strict=True):
        names.update((mine, atomic(axis)) for axis, mine in zip(one.attribute.axes, other.attribute.axes, strict=False))
    if any(axis.atom in second.mentioned for mine, axis in names.items() if mine is not axis.atom):
        return False
    renamed = Rebuilding(arena, names)
    if renamed.expression(second) is not first:
        return False
    return all(
        (renamed.polynomial(mine.begin), renamed.polynomial(mine.end)) == (axis.begin, axis.end)
        for one, other in zip(ones, others, strict=True)
        for axis, mine in zip(one.attribute.axes, other.attribute.axes, strict=True)
    )


def _at(arena: Arena, part: Expression, coordinate: Polynomial) -> Expression:
    (axis,), (body,) = part.attribute.axes, part.arguments
    return Rebuilding(arena, {axis: coordinate}).expression(body)


def _over(arena: Arena, part: Expression, begin: Polynomial, end: Polynomial) -> Expression:
    (old,) = part.attribute.axes
    axis = arena.axis(old.name, begin, end)
    return arena.make("reduce", part.dtype, (_at(arena, part, atomic(axis)),), replace(part.attribute, axes=(axis,)))


def counted(arena: Arena, facts: Facts, node: Expression) -> Expression | None:
    """A sum of the same number for every coordinate: how many there are, times the number."""
    (body,) = node.arguments
    if node.attribute.kind != "sum" or body.operation != "constant":
        return None
    count = number(1)
    for axis in node.attribute.axes:
        if not facts.less_equal(axis.begin, axis.end) or set(node.attribute.axes) & set(axis.extent.atoms()):
            return None
        count = count * axis.extent
    made = arena.make("cast", node.dtype, (as_index(arena, count),))
    return (
        made if body.attribute == 1 else arena.make("pointwise", node.dtype, (made, body), ("multiply", False, False))
    )


def one_more(arena: Arena, node: Expression) -> Expression | None:
    """A count plus a whole number is a count."""
    if node.attribute[0] != "add":
        return None
    for count, other in (node.arguments, node.arguments[::-1]):
        if count.operation == "cast" and count.arguments[0].operation == "index" and _is_whole(other):
            moved = as_index(arena, count.arguments[0].polynomial + int(other.attribute))
            return arena.make("cast", node.dtype, (moved,))
    return None


def _is_whole(node: Expression) -> bool:
    if node.operation != "constant" or not abs(node.attribute) < MOST_EXACT:
        return False
    return bool(node.attribute == int(node.attribute))


def picked(arena: Arena, facts: Facts, node: Expression) -> Expression | None:
    """The element that a sum picks by a comparison of coordinates."""
    reduction: Reduction = node.attribute
    (body,) = node.arguments
    if reduction.kind != "sum" or body.operation != "select":
        return None
    condition, chosen, other = body.arguments
    if other.operation != "constant" or other.attribute != 0 or condition.operation != "pointwise":
        return None
    if condition.attribute[0] != "equal" or condition.arguments[0].dtype != d.index:
        return None
    difference = condition.arguments[0].polynomial - condition.arguments[1].polynomial
    for axis in reduction.axes:
        place = _solution(difference, axis)
        if place is None or not (facts.less_equal(axis.begin, place) and facts.less(place, axis.end)):
            continue
        rest = tuple(each for each in reduction.axes if each is not axis)
        if any(axis in (*each.begin.atoms(), *each.end.atoms()) for each in rest) or set(rest) & set(place.atoms()):
            continue
        made = Rebuilding(arena, {axis: place}).expression(chosen)
        return made if not rest else arena.make("reduce", node.dtype, (made,), replace(reduction, axes=rest))
    return None


def _solution(difference: Polynomial, axis: Axis) -> Polynomial | None:
    """The coordinate at which the difference is 0."""
    match difference.coefficient(axis):
        case Polynomial(terms=(((), 1),)):
            return atomic(axis) - difference
        case Polynomial(terms=(((), -1),)):
            return difference + atomic(axis)
        case _:
            return None
