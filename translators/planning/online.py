"""Sums that can follow a maximum which is still growing: one sweep over an axis where the source says two.

Only under `numerics=relaxed_normalization`. A sum whose elements depend on the maximum m along the same axis through
factors exp(x - m) alone changes by one factor when m does: sum f(x) exp(x - m') = sum f(x) exp(x - m) * exp(m - m').
So its accumulator can be kept in terms of the maximum so far, and rescaled whenever that moves on. Exponentials in half
types are left out, since each of their operations rounds to the dtype.
"""

from __future__ import annotations

from collections.abc import Iterable

from intent.dtypes import DType
from intent.records import dataclass, field
from translators.tile.expression import Arena, Expression, Reduction, walk
from translators.tile.program import OrderedLoop, Renew, Statement, StreamLoop
from translators.tile.substitution import Rebuilding

_AFFINE = ("add", "subtract", "negative", "multiply", "divide")


class _NotOnline(Exception):
    """The value does not change by a factor when the maximum does."""


def rescaling(arena: Arena, node: Expression, maxima: Iterable[Expression]) -> Expression | None:
    """What the accumulator of a sum is multiplied by when the maxima have moved on; None unless that is possible."""
    factors: list[Expression] = []
    for largest in maxima:
        search = _Search(arena, largest)
        try:
            found = search.product(node.arguments) if node.operation == "contract" else search.factor(node.arguments[0])
        except _NotOnline:
            return None
        factors += found
    if not factors or not _wide(node.dtype) or any(factor.axes - node.axes for factor in factors):
        return None
    total = factors[0]
    for factor in factors[1:]:
        total = arena.make("pointwise", total.dtype, (total, factor), ("multiply", False, False))
    return total if total.dtype == node.dtype else arena.make("cast", node.dtype, (total,))


def is_online(statements: Iterable[Statement]) -> bool:
    """Whether sums follow a maximum somewhere in these statements."""
    for statement in statements:
        match statement:
            case Renew():
                return True
            case StreamLoop(body=body) | OrderedLoop(body=body) if is_online(body):
                return True
            case _:
                pass
    return False


def previous(arena: Arena, largest: Expression) -> Expression:
    """The maximum before the current tile."""
    return arena.make("previous", largest.dtype, (largest,))


def exponentials(factor: Expression) -> frozenset[Expression]:
    """The parts of a rescaling that are exp(previous - current): their argument is never positive."""
    return frozenset(node for node in walk(factor, stop=lambda node: node.operation == "reduce") if _is_decrease(node))


def _is_decrease(node: Expression) -> bool:
    if node.operation != "pointwise" or node.attribute[0] not in ("exp", "exp2"):
        return False
    (argument,) = node.arguments
    return argument.operation == "pointwise" and argument.arguments[0].operation == "previous"


def _wide(dtype: DType) -> bool:
    return dtype.is_float and dtype.bits >= 32


@dataclass(slots=True)
class _Search:
    """How the elements of a sum depend on one maximum. A factor is a list of exponentials; none means 1."""

    arena: Arena
    largest: Expression
    _dependent: dict[Expression, bool] = field(default_factory=dict)

    def _depends(self, node: Expression) -> bool:
        found = self._dependent.get(node)
        if found is None:
            found = self._dependent[node] = any(below is self.largest for below in walk(node))
        return found

    def product(self, parts: Iterable[Expression]) -> list[Expression]:
        return [factor for part in parts for factor in self.factor(part)]

    def factor(self, node: Expression) -> list[Expression]:
        if not self._depends(node):
            return []
        match node.operation, node.attribute:
            case "pointwise", ("exp" | "exp2", *_) if _wide(node.dtype):
                return [self._like(node, self._change(node.arguments[0]))]
            case "pointwise", ("multiply", *_):
                return self.product(node.arguments)
            case "pointwise", ("divide", *_) if not self._depends(node.arguments[1]):
                return self.factor(node.arguments[0])
            case "pointwise", ("negative", *_):
                return self.factor(node.arguments[0])
            case "pointwise", ("add" | "subtract", *_):
                return self._common(node.arguments)
            case "select", _ if not self._depends(node.arguments[0]):
                return self._common(node.arguments[1:])
            case "cast", _ if node.dtype.is_float and node.arguments[0].dtype.is_float:
                return self.factor(node.arguments[0])
            case "reduce", Reduction(kind="sum"):
                return self.factor(node.arguments[0])
            case _:
                raise _NotOnline

    def _common(self, parts: tuple[Expression, ...]) -> list[Expression]:
        """The factor of a sum or a choice is that of all its parts; a zero has any."""
        found = [self.factor(part) for part in parts if not (part.operation == "constant" and part.attribute == 0)]
        if any(other != found[0] for other in found):
            raise _NotOnline
        return found[0]

    def _change(self, exponent: Expression) -> Expression:
        """The exponent's growth when the maximum moves on.

        It has to be a scaled `a(x) - a(m)`, so that it is zero where x is the maximum: then no exponential grows beyond
        those of the source.
        """
        if exponent.operation != "pointwise" or not _wide(exponent.dtype):
            raise _NotOnline
        match exponent.attribute[0], exponent.arguments:
            case "subtract", (first, second) if self._at_maximum(first) is self._at_maximum(second):
                moving = second if self._depends(second) else first
                self._check_affine(moving)
                before = Rebuilding(self.arena, {}, self._before).expression(moving)
                pair = (before, second) if moving is second else (first, before)
                return self._like(exponent, *pair)
            case "negative", (inner,):
                return self._like(exponent, self._change(inner))
            case "multiply" | "divide", (first, second) if not self._depends(second):
                return self._like(exponent, self._change(first), second)
            case "multiply", (first, second) if not self._depends(first):
                return self._like(exponent, first, self._change(second))
            case _:
                raise _NotOnline

    def _like(self, node: Expression, *arguments: Expression) -> Expression:
        return self.arena.make("pointwise", node.dtype, arguments, node.attribute)

    def _at_maximum(self, node: Expression) -> Expression:
        """The value where the element is the maximum itself."""
        known = (self.largest, *self.largest.arguments)
        return Rebuilding(self.arena, {}, lambda inner: self.largest if inner in known else None).expression(node)

    def _before(self, node: Expression) -> Expression | None:
        return previous(self.arena, node) if node is self.largest else None

    def _check_affine(self, node: Expression) -> None:
        if node is self.largest or not self._depends(node):
            return
        varying = [argument for argument in node.arguments if self._depends(argument)]
        affine = node.operation == "pointwise" and node.attribute[0] in _AFFINE and _wide(node.dtype)
        if not affine or len(varying) != 1 or (node.attribute[0] == "divide" and varying[0] is not node.arguments[0]):
            raise _NotOnline
        self._check_affine(varying[0])
