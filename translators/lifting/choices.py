"""Updates and functions that choose one of two elements by comparing them.

What compares and selects its operands, and does nothing else with them, treats all numbers that are in the same order
alike. So it is tried on numbers in every order, infinities and NaN among them: what holds there holds always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass
from translators.lifting.evaluation import Evaluator, Number
from translators.tile.expression import Arena, Combine, Expression, walk
from translators.tile.substitution import Rebuilding

FLOATS: Final = (-math.inf, -1.0, 0.0, 1.0, math.inf, math.nan)
INTEGERS: Final = (-1, 0, 1)
COMPARING: Final = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))
LOGICAL: Final = frozenset(("and", "or", "xor", "not"))
Function = Callable[[Number, Number], Number]


@dataclass(frozen=True, slots=True)
class Choice:
    """`new` takes the place of the old value where the condition has this truth."""

    new: Expression
    condition: Expression
    truth: bool
    table: Mapping[tuple[Number, Number], bool]  # (old, new) -> whether it does

    def reached(self, first: Expression) -> list[Number]:
        """One old value of each order that can come up, if this is what the first one is."""
        numbers = _numbers(first.dtype)
        known = first.attribute if first.operation == "constant" else None
        if known is None or known not in (-math.inf, math.inf):
            return list(numbers)
        found = [known]
        for old in found:
            found.extend(new for new in numbers if self._takes(old, new) and not _within(new, found))
        return found

    def is_function(self, function: Function, first: Expression) -> bool:
        pairs = product(self.reached(first), _numbers(first.dtype))
        return all(_same(new if self._takes(old, new) else old, function(old, new)) for old, new in pairs)

    def takes_where(self, wanted: Callable[[Number, Number], bool], first: Expression) -> bool:
        pairs = product(self.reached(first), _numbers(first.dtype))
        return all(self._takes(old, new) == wanted(old, new) for old, new in pairs)

    def _takes(self, old: Number, new: Number) -> bool:
        return next(takes for (one, other), takes in self.table.items() if _same(one, old) and _same(other, new))


def chosen(arena: Arena, update: Expression, own: Expression) -> Choice | None:
    """The choice that an update of a carry is, if it is one between the carry and a new value."""
    if update.operation != "select" or own not in update.arguments[1:]:
        return None
    condition, true, false = update.arguments
    new, truth = (false, False) if true is own else (true, True)
    parts = {own: arena.make("argument", own.dtype, (), 0), new: arena.make("argument", own.dtype, (), 1)}
    compared = Rebuilding(arena, {}, parts.get).expression(condition)
    if new.dtype != own.dtype or own.dtype == d.index or not _only_compares(compared, 1):
        return None
    pairs = product(_numbers(own.dtype), _numbers(own.dtype))
    table = {pair: bool(Evaluator(given=pair).value(compared, {})) is truth for pair in pairs}
    return Choice(new, condition, truth, table)


# ------------------------------------------------------------------------------------------------------------ functions
def propagating(choose: Callable[[Iterable[Number]], Number]) -> Function:
    """The larger or lesser of two numbers; NaN if one is."""
    return lambda old, new: math.nan if math.isnan(old) or math.isnan(new) else choose((old, new))


def passing(choose: Callable[[Iterable[Number]], Number]) -> Function:
    """The larger or lesser of two numbers; of a number and a NaN the number."""

    def function(old: Number, new: Number) -> Number:
        if math.isnan(old) or math.isnan(new):
            return new if math.isnan(old) else old
        return choose((old, new))

    return function


FUNCTIONS: Final[Mapping[str, Function]] = {
    "maximum": propagating(max), "minimum": propagating(min), "maximum_num": passing(max), "minimum_num": passing(min),
}  # fmt: skip


def larger(old: Number, new: Number) -> bool:
    """Whether the new one is the larger, where NaN is the largest."""
    return not math.isnan(old) and (math.isnan(new) or new > old)


def lesser(old: Number, new: Number) -> bool:
    """Whether the new one is the lesser, where NaN is the least."""
    return not math.isnan(old) and (math.isnan(new) or new < old)


def position_of(combine: Combine) -> str | None:
    """`max` or `min`, if the function takes two pairs of a value and its index, and gives the pair whose value is the
    larger or lesser; of equal ones the lower index. NaN comes before all.
    """
    if combine.arity != 2 or not all(_only_compares(result, 2) for result in combine.results):
        return None
    value, place = (result.dtype for result in combine.results)
    if not place.is_integer:
        return None
    pairs = list(product(_numbers(value), INTEGERS))
    for kind, before in (("max", larger), ("min", lesser)):
        if all(_combined(combine, one, other, before) for one, other in product(pairs, repeat=2)):
            return kind
    return None


def _combined(
    combine: Combine,
    one: tuple[Number, Number],
    other: tuple[Number, Number],
    before: Callable[[Number, Number], bool],
) -> bool:
    evaluator = Evaluator(given=(*one, *other))
    second = before(one[0], other[0]) or (not before(other[0], one[0]) and other[1] < one[1])
    made = [evaluator.value(result, {}) for result in combine.results]
    wanted = other if second else one
    return all(not isinstance(each, str) and _same(each, number) for each, number in zip(made, wanted, strict=True))


# ------------------------------------------------------------------------------------------------------------- numbers
def _numbers(dtype: DType) -> tuple[Number, ...]:
    return FLOATS if dtype.is_float else INTEGERS


def _same(one: Number, other: Number) -> bool:
    return one == other or (one != one and other != other)


def _within(number: Number, numbers: Iterable[Number]) -> bool:
    return any(_same(number, each) for each in numbers)


def _only_compares(node: Expression, arity: int) -> bool:
    """Whether arguments of one component are compared with each other and selected, and nothing else."""
    return node.operation != "index" and all(_keeps_order(each, arity) for each in walk(node))


def _keeps_order(node: Expression, arity: int) -> bool:
    match node.operation:
        case "argument":
            return True
        case "select":
            return all(each.operation != "index" for each in node.arguments[1:])
        case "constant":
            return node.dtype == d.boolean
        case "index":
            return True  # a comparison says what of
        case "cast":
            return _is_truth(node) or _argument(node) is not None
        case "pointwise" if node.dtype == d.boolean:
            return node.attribute[0] in LOGICAL or (node.attribute[0] in COMPARING and _is_order(node, arity))
        case _:
            return False


def _is_order(comparison: Expression, arity: int) -> bool:
    """Numbers of one component are compared as they are, integers by the sign of a difference, truths with anything."""
    left, right = comparison.arguments
    if left.dtype == d.boolean:
        return True
    if left.dtype != d.index:
        return _are_alike((left, right), arity)
    difference = left.polynomial - right.polynomial
    atoms = [atom if isinstance(atom, Expression) else None for atom in difference.atoms()]
    if all(atom is not None and _is_truth(atom) for atom in atoms):
        return True
    return difference.offset == 0 and sorted(by for _, by in difference.terms) == [-1, 1] and _are_alike(atoms, arity)


def _is_truth(atom: Expression) -> bool:
    """Whether it is a truth value as a number."""
    return atom.dtype == d.boolean or (atom.operation == "cast" and atom.arguments[0].dtype == d.boolean)


def _are_alike(operands: Iterable[Expression | None], arity: int) -> bool:
    found = [_argument(each) for each in operands]
    return None not in found and len({each % arity for each in found if each is not None}) == 1


def _argument(node: Expression | None) -> int | None:
    """Which argument it is, as it is or as a coordinate."""
    if node is not None and node.operation == "cast" and node.dtype in (d.index, d.i64):
        (node,) = node.arguments
        if not node.dtype.is_integer:
            return None
    return node.attribute if node is not None and node.operation == "argument" else None
