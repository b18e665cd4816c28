"""Sums that are divided by their weight in every iteration: they may be divided once, after the last.

    l' = l*exp(m - m') + w(m')    z' = z*(l/l')*exp(m - m') + f(m')/l'    gives    z = (sum of f(M)) / L

z*l*exp(m) grows by a term that has neither l nor m in it, if f is homogeneous in exp(-m'): that is how the gauge
exchanges what weights are relative to, with l beside exp(m). At first z is 0, so that l may be 0 then.
"""

from __future__ import annotations

from collections.abc import Sequence

from intent.records import dataclass
from translators.lifting.gauge import Gauge, summands
from translators.tile.expression import Arena, Expression, walk


@dataclass(frozen=True, slots=True)
class Normalised:
    """z' = z*(l/l')*exp(m - m') + step/l', with `step` homogeneous in exp(-m')."""

    step: Expression
    guarded: bool


def normalised(
    arena: Arena,
    update: Expression,
    own: Expression,
    weight: tuple[Expression, Expression],
    peak: tuple[Expression, Expression],
) -> Normalised | None:
    """The update of `own`, if that is how it follows l and m, each given as (before, after) the iteration."""
    found = summands(arena, update, own)
    if found is None:
        return None
    scaled, step = found
    numerators, denominators = _quotient(scaled)
    numerators = [each for each in numerators if each is not own]
    if denominators != [weight[1]] or len(numerators) != 2 or weight[0] not in numerators:
        return None
    (factor,) = (each for each in numerators if each is not weight[0])
    gauge = Gauge(arena, peak[1])
    rest = _times(arena, step, weight[1])
    if rest is None or any(node in weight for node in walk(rest)) or not gauge.factor(factor, peak[0]):
        return None
    return Normalised(rest, gauge.guarded) if gauge.holds(rest) else None


def _quotient(node: Expression) -> tuple[list[Expression], list[Expression]]:
    """The factors above and below the line; a factor of 1 is none."""
    if node.operation == "pointwise" and node.attribute[0] in ("multiply", "divide"):
        (above, below), (other_above, other_below) = map(_quotient, node.arguments)
        if node.attribute[0] == "divide":
            other_above, other_below = other_below, other_above
        return [*above, *other_above], [*below, *other_below]
    return [] if _is_one(node) else [node], []


def _times(arena: Arena, node: Expression, weight: Expression) -> Expression | None:
    """f, if the node is f/weight in every summand; conversions in between round f instead."""
    match node.operation:
        case "cast" if node.dtype.is_float and node.arguments[0].dtype.is_float:
            places: Sequence[int] = (0,)
        case "reduce" if node.attribute.kind == "sum" and not weight.axes & set(node.attribute.axes):
            places = (0,)
        case "contract" if not weight.axes & set(node.attribute.axes):
            places = (0, 1)
        case "pointwise" if node.attribute[0] == "multiply":
            places = (0, 1)
        case "pointwise" if node.attribute[0] in ("add", "subtract"):
            parts = [_times(arena, each, weight) for each in node.arguments]
            both = tuple(each for each in parts if each is not None)
            return arena.make(node.operation, node.dtype, both, node.attribute) if len(both) == 2 else None
        case "pointwise" if node.attribute[0] == "divide" and node.arguments[1] is weight:
            return node.arguments[0]
        case "pointwise" if node.attribute[0] in ("divide", "negative"):
            places = (0,)
        case _:
            return None
    for place in places:
        found = _times(arena, node.arguments[place], weight)
        if found is not None:
            others = (*node.arguments[:place], *node.arguments[place + 1 :])
            if node.operation == "pointwise" and node.attribute[0] == "multiply" and _is_one(found):
                return others[0]
            arguments = (*node.arguments[:place], found, *node.arguments[place + 1 :])
            return arena.make(node.operation, node.dtype, arguments, node.attribute)
    return None


def _is_one(node: Expression) -> bool:
    return node.operation == "constant" and node.attribute == 1
