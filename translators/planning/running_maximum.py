"""The slices of a fold relative to the maximum so far, instead of to their own.

A summary may hold a slice's maximum t and sums of exp(s - t), which the combine multiplies by exp(t - n), n being the
larger of t and the carry's maximum. Where s <= t <= n, exp(s - t) * exp(t - n) = exp(s - n): the factor goes into the
elements of the sums, and no tile of the summary is kept beside the carry. Where slices end is the compiler's choice,
so that to which maximum an element is relative is too. Nothing is changed unless all of a loop's exponentials relative
to t can go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from intent.records import dataclass, field
from translators.tile.expression import Arena, Expression, Reduction, walk

LEAST_BITS = 16  # of a type to which exponentials may be rounded: below, small ones would be lost


def relative_to_running(
    arena: Arena, updates: Sequence[Expression | None]
) -> tuple[list[Expression | None], Mapping[Expression, Expression]]:
    """The updates of a fold's carries without factors that their sums can take up, and what new nodes replace."""
    merging = _Merging(arena)
    found = [None if update is None else merging.rewritten(update) for update in updates]
    left = set(walk(*(update for update in found if update is not None)))
    if not merging.merged or left & merging.merged:
        return list(updates), {}
    return found, merging.originals


class _NotTakenUp(Exception):
    """A value is not a multiple of exponentials relative to the slice's maximum."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """exp(t - n): its node, the slice's maximum t, and n as it is written."""

    node: Expression
    slice_maximum: Expression
    maximum: Expression


@dataclass(slots=True)
class _Merging:
    """Moves factors into the sums that they multiply; `merged` are the exponentials that have been replaced."""

    arena: Arena
    merged: set[Expression] = field(default_factory=set)
    originals: dict[Expression, Expression] = field(default_factory=dict)  # new nodes -> what they stand for

    def rewritten(self, node: Expression) -> Expression:
        """The value with every factor moved that a sum of it takes up."""
        if node.operation not in ("pointwise", "select", "cast"):
            return node
        if node.operation == "pointwise" and node.attribute[0] == "multiply":
            for value, other in (node.arguments, node.arguments[::-1]):
                factor = _factor(other)
                if factor is not None:
                    with suppress(_NotTakenUp):
                        return self.taken_up(value, factor)
        return self._with(node, tuple(map(self.rewritten, node.arguments)))

    def taken_up(self, node: Expression, factor: _Factor) -> Expression:
        """The value times the factor."""
        match node.operation, node.attribute:
            case "pointwise", ("exp" | "exp2", *_):
                return self._exponential(node, factor)
            case "pointwise", ("multiply", *_):
                return self._one_of(node, factor)
            case "pointwise", ("divide", *_):
                return self._with(node, (self.taken_up(node.arguments[0], factor), node.arguments[1]))
            case "pointwise", ("add" | "subtract" | "negative", *_):
                return self._with(node, tuple(self.taken_up(argument, factor) for argument in node.arguments))
            case "select", _:
                condition, *choices = node.arguments
                return self._with(node, (condition, *(self.taken_up(choice, factor) for choice in choices)))
            case "cast", _ if node.dtype.is_float and node.dtype.bits >= LEAST_BITS:
                return self._with(node, (self.taken_up(node.arguments[0], factor),))
            case "reduce", Reduction(kind="sum", axes=axes, ordered=False) if not factor.node.axes & set(axes):
                return self._with(node, (self.taken_up(node.arguments[0], factor),))
            case "contract", Reduction(axes=axes) if not factor.node.axes & set(axes):
                return self._one_of(node, factor)
            case "constant", 0:
                return node
            case _:
                raise _NotTakenUp

    def _exponential(self, node: Expression, factor: _Factor) -> Expression:
        """exp(s - t) becomes exp(s - n)."""
        (exponent,) = node.arguments
        if node.attribute != factor.node.attribute or node.dtype != factor.node.dtype or not _is_difference(exponent):
            raise _NotTakenUp
        value, shift = exponent.arguments
        if unless_empty(shift) is not factor.slice_maximum or factor.slice_maximum.arguments != (value,):
            raise _NotTakenUp
        self.merged.add(node)
        return self._with(node, (self._with(exponent, (value, factor.maximum)),))

    def _one_of(self, node: Expression, factor: _Factor) -> Expression:
        first, second = node.arguments
        try:
            return self._with(node, (self.taken_up(first, factor), second))
        except _NotTakenUp:
            return self._with(node, (first, self.taken_up(second, factor)))

    def _with(self, node: Expression, arguments: tuple[Expression, ...]) -> Expression:
        made = self.arena.make(node.operation, node.dtype, arguments, node.attribute)
        if made is not node:
            self.originals[made] = node
        return made


def _factor(node: Expression) -> _Factor | None:
    """exp(t - n) with t a maximum over the slice and n the larger of t and something else."""
    if node.operation != "pointwise" or node.attribute[0] not in ("exp", "exp2") or node.dtype.bits < 32:
        return None
    (exponent,) = node.arguments
    if not _is_difference(exponent):
        return None
    slice_maximum, maximum = exponent.arguments
    over = slice_maximum.attribute
    if not isinstance(over, Reduction) or over.kind != "max" or all(axis.slices is None for axis in over.axes):
        return None
    return _Factor(node, slice_maximum, maximum) if slice_maximum in _largest(unless_empty(maximum)) else None


def _largest(node: Expression) -> Iterator[Expression]:
    """What the value is certainly not less than."""
    if node.operation == "pointwise" and node.attribute[0] == "maximum":
        yield from node.arguments


def _is_difference(node: Expression) -> bool:
    return node.operation == "pointwise" and node.attribute[0] == "subtract"


def unless_empty(shift: Expression) -> Expression:
    """m in `c if m == -inf else m`: where there is nothing but -inf, exp(-inf - c) is 0 too."""
    if shift.operation != "select":
        return shift
    condition, true, false = shift.arguments
    if condition.operation != "pointwise" or len(condition.arguments) != 2:
        return shift
    function, (compared, limit) = condition.attribute[0], condition.arguments
    if limit.operation != "constant" or limit.attribute != -math.inf:
        return shift
    chosen, other = (false, true) if function == "equal" else (true, false)
    known = function in ("equal", "not_equal", "greater") and compared is chosen
    return chosen if known and other.operation == "constant" and math.isfinite(other.attribute) else shift
