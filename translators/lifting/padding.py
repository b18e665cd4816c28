"""What a lane contributes to a reduction where its mask is false: computed from the expression, never guessed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from intent import dtypes as d
from intent.records import dataclass, field
from translators.algebra.facts import Facts
from translators.algebra.polynomial import Atom, Polynomial
from translators.algebra.simplification import at_most
from translators.lifting.combines import is_identity
from translators.lifting.context import Context, with_axes
from translators.lifting.evaluation import FUNCTIONS
from translators.lifting.neutral import neutral
from translators.lifting.rewriting import bound_by
from translators.lifting.simplification import simplifier
from translators.tile.expression import Arena, Axis, Expression, walk


def absent_lanes_do_not_count(context: Context, node: Expression, condition: Expression, facts: Facts) -> bool:
    """Whether the reduction is the same without the lanes for which the condition is false.

    Where a lane is compared with the maximum of all, there has to be one that counts, in every program: of -inf alone
    the result is NaN, so that this may be assumed; where a number stands for -inf it is proven from `facts`, which hold
    wherever something is stored.
    """
    without = simplifier(context, context.facts, {condition: False})
    folding = Folding(context.arena, context.facts)
    values = [folding.expression(without.expression(argument)) for argument in node.arguments]
    if any(value.operation == "poison" for value in values):
        context.ledger.add("assumed", "no launch has lanes that a reduction reads and a load leaves undefined")
        _every_lane_counts(context, condition)
        return True
    if node.operation == "contract":
        held = any(_is(value, 0) for value in values)
        if held and not all(_is(value, 0) for value in values):
            folding.assumptions.append("what is multiplied by a masked 0 is finite")
    elif node.attribute.combine is not None:
        held = all(value.operation == "constant" for value in values)
        held = held and is_identity(context, node, [value.attribute for value in values])
    else:
        identity = neutral(context.arena, node.attribute.kind, node.arguments[0])
        held = values[0].operation == "constant" and values[0].attribute == identity.attribute
        if not held and node.attribute.kind in ("max", "max_num") and folding.is_low(values[0]):
            held = folding.relative = folding.low = True
    if held and folding.low and not _has_lanes(context, node, condition, facts):
        return False
    if held:
        if folding.relative:
            _some_lane_counts(context, node, condition)
        for assumption in folding.assumptions:
            context.ledger.add("assumed", assumption)
    return held


def _every_lane_counts(context: Context, condition: Expression) -> None:
    """What holds in launches without a lane that the condition leaves out, if that is a matter of sizes."""
    left, right = condition.arguments
    greatest = _greatest(context, left.polynomial - right.polynomial)
    if greatest is not None and greatest.constant is None:  # else every launch has such lanes
        context.required.setdefault(-greatest - 1)


def _greatest(context: Context, polynomial: Polynomial) -> Polynomial | None:
    """In sizes of a launch; None if that is not known."""
    while not context.invariant(polynomial):
        axes = [atom for atom in polynomial.atoms() if isinstance(atom, Axis)]
        inner = [axis for axis in axes if not any(axis in (*each.begin.atoms(), *each.end.atoms()) for each in axes)]
        step = polynomial.coefficient(inner[0]) if inner else None
        if step is None or not (context.facts.nonnegative(step) or context.facts.nonnegative(-step)):
            return None
        last = inner[0].end - 1 if context.facts.nonnegative(step) else inner[0].begin
        polynomial = polynomial.substitute({inner[0]: last})
    return polynomial


def _some_lane_counts(context: Context, node: Expression, condition: Expression) -> None:
    """Of lanes up to E - B*p, the last program p has one too: else it compares with the maximum of nothing.

    Launches are to meet that whoever chooses the number of programs; a proof may use it only where nothing else says
    that number.
    """
    for axis in node.attribute.axes:
        bound = bound_by(condition, axis)
        programs = {atom for atom in bound[1].atoms() if isinstance(atom, Axis)} if bound and bound[0] else set()
        if bound is None or not programs or axis.begin.terms:
            continue
        if with_axes(context.facts, programs).positive(bound[1]):
            continue
        context.ledger.add("assumed", "no program has only lanes that a mask leaves out, where they have a maximum")
        greatest = _greatest(context, -bound[1])
        if greatest is None:
            continue
        context.required.setdefault(-greatest - 1)
        if all(context.chosen(each.end) for each in programs):
            context.facts = context.facts.assuming(-greatest - 1)


def _has_lanes(context: Context, node: Expression, condition: Expression, facts: Facts) -> bool:
    """Whether the condition holds for some of the lanes that are reduced, as far as what memory counts is none less
    than 0."""
    for axis in node.attribute.axes:
        bound = bound_by(condition, axis)
        if bound is None:
            continue
        upper, end = bound
        first, last = (axis.begin, end) if upper else (end, axis.end)
        if facts.less(first, last) and at_most(facts, axis.begin + 1, axis.end):
            return True
        counts = [atom for atom in (last - first).atoms() if _is_count(atom)]
        for atom in counts:
            facts = facts.with_bounds(atom, low=0)
        held = bool(counts) and facts.less(first, last) and at_most(facts, axis.begin + 1, axis.end)
        for name in sorted(pointer for atom in counts for pointer in _pointers(atom)) if held else ():
            context.ledger.add("assumed", f"no number of {name} is negative")
        return held
    return False


def _is_count(atom: Atom) -> bool:
    return isinstance(atom, Expression) and atom.dtype.is_integer and all(map(_is_read, walk(atom)))


def _is_read(node: Expression) -> bool:
    return node.operation in ("load", "cast", "index", "constant", "poison")


def _pointers(atom: Atom) -> Iterator[str]:
    assert isinstance(atom, Expression)
    yield from (node.attribute.pointer for node in walk(atom) if node.operation == "load")


LOW: Final = -1e4  # at most: what stands for -inf
APART: Final = 152  # exp2 of less is 0, and exp of it too


@dataclass(slots=True)
class Folding:
    """Constants folded through arithmetic, as far as it is exact; `assumptions` says what a fold rests on."""

    arena: Arena
    facts: Facts = field(default_factory=Facts)
    assumptions: list[str] = field(default_factory=list)
    relative: bool = False  # whether a lane is compared with a maximum
    low: bool = False  # whether a number stands for -inf there
    done: dict[Expression, Expression] = field(default_factory=dict)

    def expression(self, node: Expression) -> Expression:
        found = self.done.get(node)
        if found is None:
            found = self._folded(node)
            self.done[node] = found
        return found

    def _folded(self, node: Expression) -> Expression:
        if node.operation == "index" and node.attribute.constant is not None:
            return self.arena.make("constant", node.dtype, (), node.attribute.constant)
        if node.operation == "contract":
            return self._contracted(node)
        if node.operation in ("reduce", "load", "index"):
            return node
        arguments = tuple(map(self.expression, node.arguments))
        constants = [each.attribute for each in arguments if each.operation == "constant"]
        if any(each.operation == "poison" for each in arguments) and node.operation != "select":
            return self.arena.make("poison", node.dtype)
        match node.operation:
            case "cast" if constants and math.isfinite(constants[0]) | node.dtype.is_float:
                return self._constant(node, constants[0])
            case "select" if arguments[0].operation == "constant":
                return arguments[1] if arguments[0].attribute else arguments[2]
            case "select" if arguments[1] is arguments[2]:
                return arguments[1]
            case "pointwise":
                return self._pointwise(node, arguments, constants)
            case _:
                return node

    def _contracted(self, node: Expression) -> Expression:
        """A product with an operand that is undefined everywhere is undefined, if anything is summed at all."""
        undefined = any(self.expression(each).operation == "poison" for each in node.arguments)
        summed = all(self.facts.positive(axis.extent) for axis in node.attribute.axes)
        return self.arena.make("poison", node.dtype) if undefined and summed else node

    def _constant(self, node: Expression, value: bool | int | float) -> Expression:
        kept = float(value) if node.dtype.is_float else bool(value) if node.dtype == d.boolean else int(value)
        return self.arena.make("constant", node.dtype, (), kept)

    def _pointwise(
        self, node: Expression, arguments: tuple[Expression, ...], constants: Sequence[bool | int | float]
    ) -> Expression:
        function = node.attribute[0]
        if len(constants) == len(arguments):
            value = _computed(function, constants)
            return node if value is None else self._constant(node, value)
        match function, arguments:
            case "subtract", (left, right) if _is_maximum(right) and not _has_low(right) and self.is_low(left):
                self.relative = self.low = True
                return self._constant(node, -math.inf)
            case "subtract", (left, right) if _is(left, -math.inf) and _is_maximum(right):
                self.relative = True
                return left  # below the maximum of the lanes that count; were that -inf too, the result is NaN anyway
            case "multiply", (left, right):
                return self._product(node, left, right)
            case "and" | "or", (left, right):
                absorbing = function == "or"
                for known, other in ((left, right), (right, left)):
                    if known.operation == "constant":
                        return known if known.attribute is absorbing else other
                return node
            case "divide", (left, right) if _is(left, 0):
                self.assumptions.append("a divisor is neither 0 nor NaN")
                return left
            case _:
                return node

    def is_low(self, node: Expression) -> bool:
        """Whether it stands for -inf where numbers are compared: a weight relative to any larger number is 0."""
        low = _stands_for_infinity(node)
        if low:
            self.assumptions.append(f"numbers that are compared are larger than {node.attribute} by {APART} or more")
        return low

    def _product(self, node: Expression, left: Expression, right: Expression) -> Expression:
        known, other = (left, right) if left.operation == "constant" else (right, left)
        if _is(known, 0):
            self.assumptions.append("what is multiplied by a masked 0 is finite")
            return known
        if _is(known, -math.inf) and other.operation == "parameter":
            self.assumptions.append(f"{other.attribute} is positive")
            return known
        return node


def _is(node: Expression, value: float) -> bool:
    return node.operation == "constant" and node.attribute == value


def _stands_for_infinity(node: Expression) -> bool:
    return node.operation == "constant" and node.dtype.is_float and -math.inf < node.attribute <= LOW


def _has_low(maximum: Expression) -> bool:
    """Whether lanes of a maximum may be such a number: then it may be no larger."""
    return any(map(_stands_for_infinity, walk(*maximum.arguments)))


def _is_maximum(node: Expression) -> bool:
    return node.operation == "reduce" and node.attribute.kind in ("max", "max_num")


def _computed(function: str, constants: Sequence[bool | int | float]) -> bool | int | float | None:
    if function == "exp" and constants[0] == -math.inf:
        return 0.0
    if function == "exp2" and constants[0] == -math.inf:
        return 0.0
    exact = {"add", "subtract", "multiply", "negative", "abs", "maximum", "minimum", "maximum_num", "minimum_num"}
    if function not in exact | {
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "equal",
        "not_equal",
        "and",
        "or",
        "not",
    }:
        return None
    value = FUNCTIONS[function](*constants)
    return None if isinstance(value, float) and math.isnan(value) else value
