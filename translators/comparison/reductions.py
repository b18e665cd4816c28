"""What reductions amount to: fewer axes, a narrower range, one reduction for two.

reduce(extents, bodies...; kind, result, bodies, (how many axes, height)); a generic one goes on with what its combine
gives and with its identities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from intent.dtypes import DType, boolean, index
from intent.records import replace
from translators.algebra.polynomial import Quotient, Remainder, atomic
from translators.comparison.binding import Open, close, opened
from translators.comparison.blocks import joined
from translators.comparison.conditions import conjuncts, logical, negated
from translators.comparison.ranges import narrowed, split
from translators.comparison.terms import Term, constant, integer, walk

if TYPE_CHECKING:
    from translators.comparison.rules import Rules

SIMPLE = ("sum", "max", "any", "all")


def reduction(rules: Rules, binder: Open) -> Term:
    """A reduction over the open binder's variables."""
    return reduced(rules, close(rules, binder))


def partial(rules: Rules, variable: Term, body: Term, kind: str, position: Term, reverse: bool) -> Term:
    """An element of a scan: the reduction over the elements up to this position, or from it on."""
    extent = variable.operands[0].polynomial
    count = extent - position.polynomial if reverse else position.polynomial + 1
    place = rules.variable(rules.polynomial(count))
    there = rules.polynomial(atomic(place) + position.polynomial) if reverse else place
    moved = rules.rebuilt(body, {variable: there})
    return reduction(rules, Open("reduce", body.dtype, (place,), (moved,), (kind, 0, 1)))


def reduced(rules: Rules, term: Term) -> Term:
    """The closed reduction, or what it amounts to."""
    kind = str(term.detail[0])
    if kind not in SIMPLE:
        return term
    count = term.detail[-2]
    assert isinstance(count, int)
    body = term.operands[count]
    if count == 0:
        return body
    truths = _of_truths(rules, term, count) if kind == "max" else None
    if truths is not None:
        return truths
    worth = count > 1 or any(map(_worth_opening, (*term.operands[:count], body)))
    if not worth and not any(map(_has_quotient, walk(body))):
        return term
    binder = opened(rules, term)
    simpler = _simpler(rules, kind, binder)
    if simpler == binder:
        return term
    return reduction(rules, simpler) if simpler.variables else simpler.parts[0]


def _of_truths(rules: Rules, term: Term, count: int) -> Term | None:
    """The largest of truth values as numbers says whether any holds, that of their complements whether all do; of no
    values at all it says something else.
    """
    body = term.operands[count]
    inverted = body.function == "invert"
    number = body.operands[0] if inverted else body
    if not (term.dtype.is_integer and number.operation == "cast" and number.operands[0].dtype == boolean):
        return None
    if term.dtype == index or not all(rules.facts.positive(each.polynomial) for each in term.operands[:count]):
        return None
    binder = opened(rules, replace(term, operands=(*term.operands[:count], number.operands[0])))
    kind = "all" if inverted else "any"
    made = reduction(rules, replace(binder, dtype=boolean, detail=(kind, *binder.detail[1:])))
    whole = rules.make("cast", term.dtype, (made,))
    return rules.make("pointwise", term.dtype, (whole,), body.detail) if inverted else whole


def _worth_opening(operand: Term) -> bool:
    if operand.operation in ("select", "reduce", "load") or operand.function in ("and", "or"):
        return True
    return operand.dtype == index and operand.polynomial.constant is not None


def _has_quotient(term: Term) -> bool:
    atoms = term.polynomial.atoms() if term.operation == "integer" else ()
    return any(isinstance(atom, Quotient | Remainder) for atom in atoms)


def _simpler(rules: Rules, kind: str, binder: Open) -> Open:
    binder = _without_single(rules, binder)
    binder = _merged(rules, kind, binder)
    for change in (split, joined):
        variables, mapping = change(rules, binder.variables, binder.parts)
        parts = tuple(rules.rebuilt(each, mapping) for each in binder.parts)
        binder = replace(binder, variables=variables, parts=parts)
    return _narrowed(rules, kind, binder)


def _without_single(rules: Rules, binder: Open) -> Open:
    """An axis of one element is at 0."""
    single = {each: integer(0) for each in binder.variables if each.operands[0].polynomial.constant == 1}
    if not single:
        return binder
    kept = tuple(rules.rebuilt(each, single) for each in binder.variables if each not in single)
    return replace(binder, variables=kept, parts=tuple(rules.rebuilt(part, single) for part in binder.parts))


def _merged(rules: Rules, kind: str, binder: Open) -> Open:
    """A reduction of a reduction of the same kind is one over both axes."""
    (body,) = binder.parts
    if body.operation != "reduce" or body.detail[0] != kind or body.dtype != binder.dtype:
        return binder
    inner = opened(rules, body)
    return replace(binder, variables=(*binder.variables, *inner.variables), parts=inner.parts)


def _narrowed(rules: Rules, kind: str, binder: Open) -> Open:
    """Elements that are the identity are left out: a condition on a coordinate becomes its range."""
    (body,) = binder.parts
    split = _conditional(rules, kind, binder.dtype, body)
    if split is None:
        return binder
    condition, value = split
    variables, mapping, rest = narrowed(rules, binder.variables, conjuncts(condition))
    if not mapping:
        return binder
    if body.operation == "load":
        rest = []
    kept = _guarded(rules, kind, binder.dtype, logical("and", rest), value)
    return replace(binder, variables=variables, parts=(rules.rebuilt(kept, mapping),))


def _conditional(rules: Rules, kind: str, dtype: DType, body: Term) -> tuple[Term, Term] | None:
    """(condition, value) where the body is the value if the condition holds and else the identity."""
    if kind == "any":
        return (body, constant(boolean, True)) if body.function == "and" else None
    if kind == "all":
        return (negated(body), constant(boolean, False)) if body.function == "or" else None
    if body.operation == "load" and kind == "sum":
        inside = rules.inside(body)
        return (logical("and", sorted(inside, key=lambda each: each.key)), body) if inside else None
    if body.operation != "select":
        return None
    condition, true, false = body.operands
    if false == identity(kind, dtype):
        return condition, true
    if true == identity(kind, dtype):
        return negated(condition), false
    return None


def _guarded(rules: Rules, kind: str, dtype: DType, condition: Term, value: Term) -> Term:
    if kind == "any":
        return condition
    if kind == "all":
        return negated(condition)
    return rules.make("select", dtype, (condition, value, identity(kind, dtype)))


def identity(kind: str, dtype: DType) -> Term:
    if dtype == boolean:
        return constant(boolean, kind == "all")
    if kind == "sum":
        return constant(dtype, 0)
    if dtype.is_float:
        return constant(dtype, -float("inf"))
    return constant(dtype, -(1 << (dtype.bits - 1)) if dtype.is_signed else 0)
