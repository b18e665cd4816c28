"""Which slices of a region fold change nothing, and which lie wholly where a predicate over coordinates holds.

The author declares that the identity is neutral for the combine, and that an empty source gives it. A slice whose
summary *is* the identity may therefore be left out. That is decided for one inequality between coordinates at a time:
the summary is evaluated with the inequality holding nowhere in the slice; if every component is then the identity's,
only slices in which it holds somewhere matter. An element that is multiplied with such an exact zero is taken for
finite (0 * inf would be a NaN): `Limits.finite` names what that concerns, and a note says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial
from translators.planning.known_values import EXACT_FUNCTIONS, Number, identity
from translators.tile.expression import Axis, Expression, LoopToken, Place, walk

_COMPARISONS = {
    "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b, "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Polynomials of which each is nonnegative somewhere in every slice that matters."""

    nonnegative: tuple[Polynomial, ...] = ()
    finite: frozenset[str] = frozenset()


def implied(condition: Expression) -> Iterator[Polynomial]:
    """Polynomials that are nonnegative wherever the condition holds: its conjunction of index comparisons."""
    if condition.operation != "pointwise":
        return
    if condition.attribute[0] == "and":
        for part in condition.arguments:
            yield from implied(part)
        return
    yield from compared(condition)


def compared(comparison: Expression) -> tuple[Polynomial, ...]:
    """Polynomials that are all nonnegative exactly where this comparison of coordinates holds; () for anything else."""
    if len(comparison.arguments) != 2 or comparison.arguments[0].dtype.kind != "index":
        return ()
    left, right = (argument.polynomial for argument in comparison.arguments)
    match comparison.attribute[0]:
        case "less":
            return (right - left - 1,)
        case "less_equal":
            return (right - left,)
        case "greater":
            return (left - right - 1,)
        case "greater_equal":
            return (left - right,)
        case "equal":
            return (left - right, right - left)
        case _:
            return ()


def holds(comparison: Expression, limits: Sequence[Polynomial]) -> bool | None:
    """The comparison's value where every one of `limits` is nonnegative, if that decides it."""
    unequal: bool = comparison.attribute[0] == "not_equal"
    parts = _opposite_of_unequal(comparison) if unequal else compared(comparison)
    if parts and all(any(_at_least(part, limit) for limit in limits) for part in parts):
        return not unequal
    if any(_at_least(-part - 1, limit) for part in parts for limit in limits):
        return unequal
    return None


def _opposite_of_unequal(comparison: Expression) -> tuple[Polynomial, ...]:
    """Nonnegative where the coordinates that are compared for being different are equal."""
    left, right = comparison.arguments
    if left.dtype.kind != "index":
        return ()
    return (left.polynomial - right.polynomial, right.polynomial - left.polynomial)


def _conditions(node: Expression) -> Iterator[Polynomial]:
    """What a comparison may say about a slice: that it holds somewhere, or that it fails somewhere."""
    if node.attribute[0] == "not_equal":
        yield from _opposite_of_unequal(node)
    for part in compared(node):
        yield part
        yield -part - 1


def _at_least(polynomial: Polynomial, other: Polynomial) -> bool:
    difference = (polynomial - other).constant
    return difference is not None and difference >= 0


def limits_of(summaries: Sequence[Expression], identities: Sequence[Expression], slices: LoopToken) -> Limits:
    """What must hold somewhere in a slice, given a slice's summary and the fold's identity, component by component."""
    if any(wanted.operation not in ("constant", "index") for wanted in identities):
        return Limits()
    wanted = [each.attribute if each.operation == "constant" else each.attribute.constant for each in identities]
    return _limits(summaries, wanted, lambda axis: axis.slices is slices)


def reduction_limits(reduction: Expression, along: Axis) -> tuple[Polynomial, ...]:
    """What must hold somewhere in a tile that changes a reduction or a contraction, whatever the memory holds."""
    if reduction.operation == "contract":
        return _limits((reduction,), (0,), lambda axis: axis is along, exact=True).nonnegative
    neutral = [identity(reduction.attribute.kind, argument.dtype) for argument in reduction.arguments]
    if reduction.operation != "reduce" or len(neutral) > 1 or None in neutral:
        return ()
    return _limits(reduction.arguments, neutral, lambda axis: axis is along, exact=True).nonnegative


def _limits(
    summaries: Sequence[Expression],
    identities: Sequence[Number | None],
    along: Callable[[Axis], bool],
    exact: bool = False,
) -> Limits:
    """`exact`: without those for which anything has to be finite."""
    candidates = dict.fromkeys(
        polynomial
        for node in walk(*summaries)
        if node.operation == "pointwise"
        for polynomial in _conditions(node)
        if _runs_along(polynomial, along)
    )
    found: list[Polynomial] = []
    finite: set[str] = set()
    for candidate in candidates:
        absent = _Absent(-candidate - 1, along)
        same = all(absent.is_identity(*pair) for pair in zip(summaries, identities, strict=True))
        if same and not (exact and absent.finite):
            found.append(candidate)
            finite |= absent.finite
    return Limits(tuple(found), frozenset(finite))


def _runs_along(polynomial: Polynomial, along: Callable[[Axis], bool]) -> bool:
    """It varies with such an axis, and not with where the axis is cut."""
    axes = [atom for atom in polynomial.atoms() if isinstance(atom, Axis) and along(atom)]
    return bool(axes) and not any(axis.slices is atom for axis in axes for atom in polynomial.atoms())


@dataclass(slots=True)
class _Absent:
    """Values in a slice in all of which `known` is nonnegative."""

    known: Polynomial
    along: Callable[[Axis], bool]  # axes that have a coordinate there
    finite: set[str] = field(default_factory=set)
    values: dict[Expression, Number | None] = field(default_factory=dict)

    def is_identity(self, summary: Expression, wanted: Number | None) -> bool:
        value = self.evaluate(summary)
        return value is not None and wanted is not None and value == wanted

    def evaluate(self, root: Expression) -> Number | None:
        for node in walk(root):
            if node not in self.values:
                value = self._value(node)
                self.values[node] = None if isinstance(value, float) and math.isnan(value) else value
        return self.values[root]

    def _value(self, node: Expression) -> Number | None:
        match node.operation:
            case "constant":
                value: Number = node.attribute
                return value
            case "index":
                constant: int | None = node.attribute.constant
                return constant
            case "load" if node.arguments and self.values[node.arguments[0]] is False:
                return self.values[node.arguments[1]]
            case "cast":
                return self._cast(node)
            case "select":
                condition, true, false = (self.values[argument] for argument in node.arguments)
                if condition is not None:
                    return true if condition else false
                return true if true is not None and true == false else None
            case "pointwise":
                return self._pointwise(node)
            case "reduce":
                return self._reduced(node)
            case "contract":
                return self._product(node)
            case _:
                return None

    def _cast(self, node: Expression) -> Number | None:
        """Zeros, ones and infinities are exact in every type of float."""
        value = self.values[node.arguments[0]]
        if value is None or not node.dtype.is_float:
            return 0 if value == 0 and node.dtype.kind != "bool" else None
        return float(value) if value in (0, 1, math.inf, -math.inf) else None

    def _pointwise(self, node: Expression) -> Number | None:
        function = node.attribute[0]
        decided = holds(node, (self.known,))
        if decided is not None:
            return decided
        values = [self.values[argument] for argument in node.arguments]
        if node.dtype.kind == "bool":
            return self._truth(function, values)
        if function == "multiply" and 0 in values:
            return self._product(node)
        if function == "subtract" and values[0] is not None and values[0] == values[1] and math.isfinite(values[0]):
            return 0.0 if node.dtype.is_float else 0
        exact = EXACT_FUNCTIONS.get((function, len(values)))
        if exact is None or not node.dtype.is_float or None in values:
            return None
        safe = function in ("maximum", "minimum", "negative", "abs")
        return exact(*values) if safe or all(value in (0, 1, math.inf, -math.inf) for value in values) else None

    def _truth(self, function: str, values: Sequence[Number | None]) -> bool | None:
        match function:
            case "and":
                return False if False in values else True if None not in values else None
            case "or":
                return True if True in values else False if None not in values else None
            case "not":
                return None if values[0] is None else not values[0]
            case _ if function in _COMPARISONS and None not in values:
                return bool(_COMPARISONS[function](*values))
            case _:
                return None

    def _product(self, node: Expression) -> Number | None:
        """Zero times a number is zero; of floats, that number must be finite."""
        values = [self.values[argument] for argument in node.arguments]
        if 0 not in values:
            return None
        for argument, value in zip(node.arguments, values, strict=True):
            if value is None and argument.dtype.is_float:
                self.finite |= _sources(argument)
            elif value is not None and not math.isfinite(value):
                return None
        return 0.0 if node.dtype.is_float else 0

    def _reduced(self, node: Expression) -> Number | None:
        values = [self.values[argument] for argument in node.arguments]
        kind, combine = node.attribute.kind, node.attribute.combine
        if None in values:
            return None
        if kind == "generic":
            neutral = [value.attribute if value.operation == "constant" else None for value in combine.identities]
            same = [value for value, wanted in zip(values, neutral, strict=True) if value == wanted]
            return same[node.attribute.result] if len(same) == len(values) else None
        neutral_value = identity(kind, node.dtype)
        if len(values) > 1 or neutral_value is None or kind == "arg_max":
            return None
        if values[0] == neutral_value:
            return neutral_value
        along_slice = all(map(self.along, node.attribute.axes))  # which has an element
        return values[0] if kind != "sum" and along_slice else None


def _sources(node: Expression) -> set[str]:
    return {
        below.attribute.memory.name if isinstance(below.attribute, Place) else str(below.attribute)
        for below in walk(node)
        if below.operation in ("load", "parameter") and below.dtype.is_float
    }
