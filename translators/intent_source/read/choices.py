"""Choices inside expressions: `a and b`, `a or b`, `a if c else b`, with the reads Python would reach and no others."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from translators.intent_source.read import rules
from translators.intent_source.read.checks import check_expression
from translators.intent_source.read.operands import Literal, Operand
from translators.intent_source.read.walker import Walker
from translators.logical.program import (
    Block,
    Cast,
    Constant,
    If,
    Let,
    Merge,
    Pointwise,
    Select,
    Size,
    Statement,
    Value,
)

_MAY_BE_ILLEGAL: Final = ("floor_divide", "remainder", "shift_left", "shift_right", "power")


def conjoin(walker: Walker, node: ast.expr, operator: str, first: Operand, second: Callable[[], Operand]) -> Operand:
    """`first and second()` or `first or second()`."""
    walker.here(node)
    if isinstance(first, Value) and not first.is_scalar:
        rhs = second()
        walker.here(node)
        return rules.logical(walker.builder, operator, first, rhs)
    condition = rules.as_condition(walker.builder, first)
    if isinstance(condition, bool):
        return second() if condition == (operator == "and") else Literal(condition)
    return _conjoin_scalars(walker, node, operator, condition, second)


def _conjoin_scalars(
    walker: Walker, node: ast.expr, operator: str, condition: Value, second: Callable[[], Operand]
) -> Operand:
    with walker.builder.block() as statements:
        rhs = second()
    walker.here(node)
    if isinstance(rhs, Value) and not rhs.is_scalar:
        walker.builder.statements.extend(statements)
        return rules.logical(walker.builder, operator, condition, rhs)
    other = rules.as_condition(walker.builder, rhs)
    if isinstance(other, bool):
        return condition if other == (operator == "and") else Literal(other)
    if _harmless(statements):
        walker.builder.statements.extend(statements)
        return rules.binary(walker.builder, operator, condition, other)
    decided = walker.builder.constant(operator == "or", other.dtype)
    if operator == "and":
        return _merged(walker, condition, (statements, other), ([], decided))
    return _merged(walker, condition, ([], decided), (statements, other))


def _harmless(statements: list[Statement]) -> bool:
    """Whether the statements may run where Python would not reach them: they read nothing and always have a value."""
    return all(isinstance(statement, Let) and _is_total(statement) for statement in statements)


def _is_total(statement: Let) -> bool:
    match statement.op:
        case Constant() | Size() | Select():
            return True
        case Cast(argument=argument):
            return not argument.dtype.is_float or statement.results[0].dtype.is_float
        case Pointwise(function=function):
            return function not in _MAY_BE_ILLEGAL
        case _:
            return False


Arm = tuple[list[Statement], Value]


def _merged(walker: Walker, condition: Value, then: Arm, orelse: Arm) -> Value:
    builder = walker.builder
    merge = builder.value(Merge(condition, then[1], orelse[1]), then[1].type)
    builder.statement(If(condition, Block(tuple(then[0])), Block(tuple(orelse[0])), (merge,), builder.span))
    return merge


def choose(
    walker: Walker, node: ast.IfExp, condition: Operand, then: Callable[[], Operand], orelse: Callable[[], Operand]
) -> Operand:
    """`then() if condition else orelse()`."""
    builder = walker.builder
    if isinstance(condition, Value) and not condition.is_scalar:
        true, false = then(), orelse()
        walker.here(node)
        return rules.select(builder, condition, true, false)
    decision = rules.as_condition(builder, condition)
    if isinstance(decision, bool):
        check_expression(walker, node.orelse if decision else node.body)
        return then() if decision else orelse()
    with builder.block() as then_statements:
        true = then()
    with builder.block() as else_statements:
        false = orelse()
    walker.here(node)
    trues, falses = rules.unify(builder, true, false, "the two sides of the conditional expression")
    merges = tuple(builder.value(Merge(decision, a, b), a.type) for a, b in zip(trues, falses, strict=True))
    blocks = Block(tuple(then_statements)), Block(tuple(else_statements))
    builder.statement(If(decision, *blocks, merges, builder.span))
    return rules.rebuild(true, merges)
