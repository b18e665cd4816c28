"""What host code knows where a condition holds, and where it does not: differences that are not negative."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from translators.algebra.polynomial import Polynomial

Facts = tuple[Polynomial, ...]
Number = Callable[[ast.expr], Polynomial | None]
OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt}


def known(test: ast.expr, value: Number) -> tuple[Facts, Facts]:
    """(what holds with the condition, what holds without it), of comparisons between numbers."""
    match test:
        case ast.Compare(left=left, ops=operators, comparators=others):
            operands = [value(each) for each in (left, *others)]
            steps = list(zip(operators, operands, operands[1:], strict=False))
            holds = tuple(fact for step in steps for fact in _compared(*step))
            if len(steps) > 1:
                return holds, ()
            operator, first, second = steps[0]
            opposite = OPPOSITES.get(type(operator))
            return holds, () if opposite is None else _compared(opposite(), first, second)
        case ast.BoolOp(op=ast.And(), values=parts):
            return tuple(fact for each in parts for fact in known(each, value)[0]), ()
        case ast.BoolOp(op=ast.Or(), values=parts):
            return (), tuple(fact for each in parts for fact in known(each, value)[1])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            holds, fails = known(operand, value)
            return fails, holds
        case _:
            return (), ()


def _compared(operator: ast.cmpop, first: Polynomial | None, second: Polynomial | None) -> Facts:
    if first is None or second is None:
        return ()
    match operator:
        case ast.Lt():
            return (second - first - 1,)
        case ast.LtE():
            return (second - first,)
        case ast.Gt():
            return (first - second - 1,)
        case ast.GtE():
            return (first - second,)
        case ast.Eq():
            return (first - second, second - first)
        case _:
            return ()


def leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether what comes after a block is not reached from it."""
    return bool(statements) and isinstance(statements[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def unsteady(function: ast.FunctionDef) -> frozenset[str]:
    """Names that are given a value more than once, or only somewhere, or from such names: what they are depends on how
    a statement was reached.
    """
    given: dict[str, list[ast.AST]] = {
        each.arg: [each] for each in ast.walk(function.args) if isinstance(each, ast.arg)
    }
    steady = set(map(id, function.body))
    found: set[str] = set()
    for statement in ast.walk(function):
        if not isinstance(statement, ast.stmt) or statement is function:
            continue
        for name in _assigned(statement):
            given.setdefault(name, []).append(statement)
            if id(statement) not in steady or not isinstance(statement, ast.Assign | ast.AnnAssign):
                found.add(name)
    found |= {name for name, places in given.items() if len(places) > 1}
    while True:
        more = {name for name, places in given.items() if any(_mentions(each, found) for each in places)} - found
        if not more:
            return frozenset(found)
        found |= more


def _assigned(statement: ast.stmt) -> set[str]:
    """Names that the statement itself gives a value; those of statements within it are theirs."""
    match statement:
        case ast.Assign(targets=targets):
            parts: Sequence[ast.AST] = targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            parts = (target,)
        case ast.With(items=items):
            parts = [each.optional_vars for each in items if each.optional_vars is not None]
        case _:
            parts = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.NamedExpr)]
    names = (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
