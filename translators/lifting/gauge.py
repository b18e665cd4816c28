"""Sums of weights that are relative to a running maximum: what they are relative to may be exchanged.

    m' = max(m, g)    z' = z*exp(m - m') + f(m')    gives    z = sum of f(M), M the maximum after the loop

if f is homogeneous in exp(-m'): every summand has exactly one factor exp(e - m'). Then z*exp(m) is an ordinary sum,
and its terms do not depend on m'. So it is for exp2, for a scaled exponent s*(e - m'), and where a maximum of minus
infinity is replaced before it is subtracted. The same exchange joins sums of lanes that have maxima of their own:

    f(b)*exp(b - c)   is   f(c)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import chain, product
from typing import Final

from intent import dtypes as d
from intent.records import dataclass, field
from translators.tile.expression import Arena, Expression, walk
from translators.tile.substitution import Rebuilding

_EXPONENTIALS: Final = ("exp", "exp2")
_ANY = 2  # the degree of zero, which is of every degree
Key = tuple[str, Expression | None]  # the exponential, and what scales its exponent


@dataclass(slots=True)
class Gauge:
    """What weights are relative to: the expression `mark`, or `mark` with minus infinity replaced by 0."""

    arena: Arena
    mark: Expression
    key: Key | None = None
    guarded: bool = field(default=False, init=False)  # whether a condition asked for a mark of minus infinity

    def exchanged(self, node: Expression, mark: Expression) -> Expression:
        return Rebuilding(self.arena, {}, lambda each: mark if each is self.mark else None).expression(node)

    def holds(self, node: Expression) -> bool:
        """Whether every summand has one factor exp(e - mark)."""
        return self._degree(node) in (-1, _ANY)

    def factor(self, node: Expression, old: Expression) -> bool:
        """Whether it is exp(old - mark); it then says which exponential, and which scale, are the gauge's."""
        found = self._exponent(node)
        if found is None:
            return False
        key, base, inside = found
        own = base if key[1] is None or inside else _unscaled(base, key[1])
        if own is not old and not (own is not None and _replaced_infinity(own) is old):
            return False
        self.key = key
        return True

    # ---------------------------------------------------------------------------------------------------------- degrees
    def mentions(self, node: Expression) -> bool:
        return any(each is self.mark for each in walk(node, stop=lambda each: each is self.mark))

    def _degree(self, node: Expression) -> int | None:
        if not self.mentions(node):
            return _ANY if node.operation == "constant" and node.attribute == 0 else 0
        match node.operation:
            case "pointwise":
                return self._pointwise(node)
            case "cast" if node.dtype.is_float and node.arguments[0].dtype.is_float:
                return self._degree(node.arguments[0])
            case "reduce" if node.attribute.kind == "sum" and not self.mark.axes & set(node.attribute.axes):
                return self._degree(node.arguments[0])
            case "contract" if not self.mark.axes & set(node.attribute.axes):
                return self._product(*map(self._degree, node.arguments))
            case "select":
                return self._select(node)
            case _:
                return None

    def _pointwise(self, node: Expression) -> int | None:
        function, arguments = node.attribute[0], node.arguments
        if function in _EXPONENTIALS:
            found = self._exponent(node)
            return -1 if found is not None and found[0] == self.key and not self.mentions(found[1]) else None
        match function:
            case "negative":
                return self._degree(arguments[0])
            case "multiply":
                return self._product(*map(self._degree, arguments))
            case "divide" if not self.mentions(arguments[1]):
                return self._degree(arguments[0])
            case "add" | "subtract":
                return _same(*map(self._degree, arguments))
            case _:
                return None

    def _product(self, left: int | None, right: int | None) -> int | None:
        if left is None or right is None:
            return None
        return _ANY if _ANY in (left, right) else left + right

    def _select(self, node: Expression) -> int | None:
        condition, true, false = node.arguments
        if self.mentions(condition):
            empty = _is_infinite(condition, self.mark)
            if empty is None or not _is_zero(true if empty else false):
                return None
            self.guarded = True
        return _same(self._degree(true), self._degree(false))

    # -------------------------------------------------------------------------------------------------------- exponents
    def _exponent(self, node: Expression) -> tuple[Key, Expression, bool] | None:
        """(exponential and scale s, e, whether s*(e - mark) is meant) for exp(s*(e - mark)) and exp(e - s*mark)."""
        if node.operation != "pointwise" or node.attribute[0] not in _EXPONENTIALS:
            return None
        function: str = node.attribute[0]
        (exponent,) = node.arguments
        if exponent.operation != "pointwise":
            return None
        if exponent.attribute[0] == "multiply":
            for difference, scale in (exponent.arguments, exponent.arguments[::-1]):
                if _is_difference(difference) and self._is_mark(difference.arguments[1]) and not self.mentions(scale):
                    return (function, scale), difference.arguments[0], True
        if not _is_difference(exponent):
            return None
        base, subtracted = exponent.arguments
        if self._is_mark(subtracted):
            return (function, None), base, False
        for mark, scale in _factors(subtracted):
            if self._is_mark(mark) and not self.mentions(scale):
                return (function, scale), base, False
        return None

    def _is_mark(self, node: Expression) -> bool:
        return node is self.mark or _replaced_infinity(node) is self.mark


def _same(left: int | None, right: int | None) -> int | None:
    if left == _ANY:
        return right
    return left if right in (left, _ANY) else None


def _is_difference(node: Expression) -> bool:
    return node.operation == "pointwise" and node.attribute[0] == "subtract"


def _factors(node: Expression) -> Iterator[tuple[Expression, Expression]]:
    if node.operation == "pointwise" and node.attribute[0] == "multiply":
        left, right = node.arguments
        yield left, right
        yield right, left


def _unscaled(node: Expression, scale: Expression) -> Expression | None:
    return next((value for value, other in _factors(node) if other is scale), None)


def _is_zero(node: Expression) -> bool:
    return node.operation == "constant" and node.attribute == 0


def _is_infinite(condition: Expression, value: Expression) -> bool | None:
    """True for value == -inf, False for value != -inf."""
    if condition.operation != "pointwise" or condition.attribute[0] not in ("equal", "not_equal"):
        return None
    left, right = condition.arguments
    if left is not value or right.operation != "constant" or right.attribute != -math.inf:
        return None
    return bool(condition.attribute[0] == "equal")


def _replaced_infinity(node: Expression) -> Expression | None:
    """v, if the node is v with minus infinity replaced by 0."""
    if node.operation != "select":
        return None
    condition, true, false = node.arguments
    for replaced, value, infinite in ((true, false, True), (false, true, False)):
        if _is_zero(replaced) and _is_infinite(condition, value) is infinite:
            return value
    return None


# ------------------------------------------------------------------------------------------------- recurrences
@dataclass(frozen=True, slots=True)
class Rescaled:
    """z' = z*factor + step, with `factor` = exp(m - m') and a step that is homogeneous in exp(-m')."""

    factor: Expression
    step: Expression
    guarded: bool


def without_zeros(arena: Arena, update: Expression) -> Expression:
    """Without what is multiplied by 0 and added: that is how compilers are kept from rewritings."""

    def finish(node: Expression) -> Expression | None:
        if node.operation != "pointwise" or node.attribute[0] != "add":
            return None
        both = (node.arguments, node.arguments[::-1])
        return next((other for part, other in both if any(map(_is_zero, chain(*_factors(part))))), None)

    return Rebuilding(arena, {}, finish=finish).expression(update)


def rescaled(arena: Arena, update: Expression, own: Expression, old: Expression, new: Expression) -> Rescaled | None:
    """The update of `own`, if that is how it follows the running maximum from `old` to `new`."""
    if update.operation == "select":
        return _guarded(arena, update, own, old, new)
    found = summands(arena, update, own)
    if found is None:
        return None
    scaled, step = found
    gauge = Gauge(arena, new)
    for carried, factor in _factors(scaled):
        if carried is own and gauge.factor(factor, old) and gauge.holds(step):
            return Rescaled(factor, step, gauge.guarded)
    return None


def _guarded(arena: Arena, update: Expression, own: Expression, old: Expression, new: Expression) -> Rescaled | None:
    """Nothing is added while the maximum is still minus infinity."""
    condition, true, false = update.arguments
    empty = _is_infinite(condition, new)
    kept, changed = (true, false) if empty else (false, true)
    if empty is None or kept is not own:
        return None
    found = rescaled(arena, changed, own, old, new)
    if found is None:
        return None
    zero = arena.make("constant", update.dtype, (), 0.0)
    parts = (zero, found.step) if empty else (found.step, zero)
    return Rescaled(found.factor, arena.make("select", update.dtype, (condition, *parts)), True)


def summands(arena: Arena, update: Expression, own: Expression) -> tuple[Expression, Expression] | None:
    """(the product with the carry, what is added to it)."""
    if update.operation != "pointwise" or update.attribute[0] not in ("add", "subtract"):
        return None
    left, right = update.arguments
    if update.attribute[0] == "subtract":
        right = arena.make("pointwise", right.dtype, (right,), ("negative", False, False))
    elif not _mentions(left, own):
        left, right = right, left
    if _mentions(right, own):
        return None
    if any(first is own or second is own for first, second in _factors(left)):
        return left, right
    inner = summands(arena, left, own)
    if inner is None:
        return None
    return inner[0], arena.make("pointwise", update.dtype, (inner[1], right), ("add", False, False))


def _mentions(node: Expression, other: Expression) -> bool:
    return any(each is other for each in walk(node))


# --------------------------------------------------------------------------------------------------- exchanges
def exchanged(arena: Arena, node: Expression) -> Expression | None:
    """f(b)*exp(b - c) as f(c)."""
    if node.operation != "pointwise" or node.attribute[0] != "multiply" or node.dtype == d.index:
        return None
    for weights, factor in _factors(node):
        if factor.operation != "pointwise" or factor.attribute[0] not in _EXPONENTIALS:
            continue
        for base, other in _differences(factor.arguments[0]):
            gauge, ratio = Gauge(arena, base), Gauge(arena, other)
            if not ratio.factor(factor, base):
                continue
            gauge.key = ratio.key
            if gauge.mentions(weights) and gauge.holds(weights) and _is_maximum(base, gauge):
                return gauge.exchanged(weights, other)
    return None


def _differences(exponent: Expression) -> Iterator[tuple[Expression, Expression]]:
    """(b, c) for every way in which the exponent may be s*(b - c)."""
    for inner in (exponent, *(value for value, _ in _factors(exponent))):
        if _is_difference(inner):
            left, right = inner.arguments
            yield left, right
            pairs = product(_factors(left), _factors(right))
            yield from ((mine, other) for (mine, scale), (other, same) in pairs if scale is same)


def _is_maximum(base: Expression, gauge: Gauge) -> bool:
    """A guard against minus infinity counts only if what is guarded cannot be above it."""
    return not gauge.guarded or (base.operation == "reduce" and base.attribute.kind in ("max", "max_num"))
