"""What decorators say of sizes where they choose a compile-time flag: `lambda args: args["B"] >= args["N"]`.

A launch with that flag true is one in which the comparison holds; with it false, its opposite does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from translators.algebra.polynomial import Polynomial, ceiling_divide, number, symbol
from translators.triton_source.read.values import Function


def facts_of_flag(function: Function, name: str, value: bool) -> tuple[Polynomial, ...]:
    """What is not negative in a launch with that value."""
    return tuple(fact for chosen in _choices(function, name) for fact in _facts(chosen, value))


def _choices(function: Function, name: str) -> Iterator[ast.expr]:
    """The expressions that choose the flag."""
    tables = (node for each in function.decorators for node in ast.walk(each) if isinstance(node, ast.Dict))
    for table in tables:
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                body = _returned(function, value)
                if body is not None:
                    yield body


def _returned(function: Function, value: ast.expr) -> ast.expr | None:
    if isinstance(value, ast.Lambda):
        return value.body
    host = function.file.hosts.get(value.id) if isinstance(value, ast.Name) else None
    match host.body if host is not None else []:
        case [ast.Return(value=ast.expr() as returned)]:
            return returned
        case _:
            return None


def _facts(node: ast.expr, holds: bool) -> Iterator[Polynomial]:
    match node:
        case ast.BoolOp(op=operation, values=values) if isinstance(operation, ast.And) is holds:
            for each in values:
                yield from _facts(each, holds)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _facts(operand, not holds)
        case ast.Compare(left=ast.BinOp(left=whole, op=ast.Mod(), right=part), ops=[ast.Eq()],
                         comparators=[ast.Constant(value=0)]) if holds:  # fmt: skip
            sides = _numbers((whole, part))
            if sides is not None:
                yield sides[0] - sides[1] * ceiling_divide(*sides)
        case ast.Compare(left=left, ops=[operation], comparators=[right]):
            sides = _numbers((left, right))
            if sides is not None:
                yield from _compared(operation, sides[0] - sides[1], holds)


def _compared(operation: ast.cmpop, difference: Polynomial, holds: bool) -> Iterator[Polynomial]:
    match operation:
        case ast.GtE() if holds:
            yield difference
        case ast.Lt() if not holds:
            yield difference
        case ast.Gt() if holds:
            yield difference - 1
        case ast.LtE() if not holds:
            yield difference - 1
        case ast.LtE():
            yield -difference
        case ast.GtE():
            yield -difference - 1
        case ast.Lt():
            yield -difference - 1
        case ast.Gt():
            yield -difference
        case ast.Eq() if holds:
            yield from (difference, -difference)


def _numbers(nodes: Sequence[ast.expr]) -> tuple[Polynomial, Polynomial] | None:
    found = [_number(node) for node in nodes]
    first, second = found
    return None if first is None or second is None else (first, second)


def _number(node: ast.expr) -> Polynomial | None:
    """A number that is made of the arguments of a launch."""
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            return number(value)
        case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=str() as name)):
            return symbol(name)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() as operation, right=right):
            sides = _numbers((left, right))
            if sides is None:
                return None
            one, other = sides
            sums = one + other if isinstance(operation, ast.Add) else one - other
            return one * other if isinstance(operation, ast.Mult) else sums
        case _:
            return None
