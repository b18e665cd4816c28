"""Which values a compile-time parameter is lifted for, where a branch or a shape depends on it.

The host's value is the only one, if the host code says it. Otherwise the kernel's own text names them: the constants
that it compares the parameter with, the two truth values of a flag, the entries of its tuning tables. A lift for one of
several values says so in its ledger.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from intent import dtypes as d
from intent.dtypes import DType
from translators.triton_source.read.kernels import Known
from translators.triton_source.read.source import constant_of
from translators.triton_source.read.values import Function, NeedsValue, Value

MOST_ATTEMPTS = 12
SOME_NUMBERS = (4, 16)
FLAG = (False, True)


def candidates(function: Function, needed: NeedsValue, known: Known) -> tuple[str, tuple[Value, ...]]:
    """A parameter whose value is needed, and the values to lift for, the simplest kernel first."""
    name = needed.names[0]
    if name in known.constants:
        return name, (known.constants[name],)
    if needed.of_type:
        return name, (d.f32,)
    compared = tuple(dict.fromkeys(_compared(function, name)))
    tuned = tuple(dict.fromkeys((*_default(function, name), *_tuned(function, name))))
    if _is_flag(function, name) or not (compared or tuned or needed.number):
        return name, (*FLAG, *(each for each in compared if not isinstance(each, bool)))
    return name, (*compared, *tuned) or SOME_NUMBERS


def _compared(function: Function, name: str) -> Iterator[Value]:
    for node in ast.walk(function.node):
        match node:
            case ast.Compare(left=ast.Name(id=one), ops=[ast.Eq() | ast.NotEq()], comparators=[other]) if one == name:
                value = constant_of(function.file, other)
            case ast.Compare(left=other, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Name(id=one)]) if one == name:
                value = constant_of(function.file, other)
            case _:
                continue
        if isinstance(value, int | float | str | DType):
            yield value


def _is_flag(function: Function, name: str) -> bool:
    """Whether its truth alone is asked for somewhere."""
    for node in ast.walk(function.node):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.UnaryOp(op=ast.Not(), operand=test):
                if isinstance(test, ast.Name) and test.id == name:
                    return True
            case ast.BoolOp(values=values):
                if any(isinstance(each, ast.Name) and each.id == name for each in values):
                    return True
    return any(isinstance(value, ast.Lambda) and _is_truth(value.body) for value in _decorated(function, name))


def _is_truth(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _default(function: Function, name: str) -> Iterator[Value]:
    arguments = function.node.args
    positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    named = zip((each.arg for each in arguments.kwonlyargs), arguments.kw_defaults, strict=True)
    default = defaults.get(name) or dict(named).get(name)
    value = None if default is None else constant_of(function.file, default)
    if isinstance(value, int | float | str | DType):
        yield value


def _tuned(function: Function, name: str) -> Iterator[Value]:
    """Numbers that decorators give the parameter."""
    for value in _decorated(function, name):
        if isinstance(value, ast.Constant) and isinstance(value.value, int):
            yield value.value


def _decorated(function: Function, name: str) -> Iterator[ast.expr]:
    tables = (node for each in function.decorators for node in ast.walk(each) if isinstance(node, ast.Dict))
    for table in tables:
        for key, value in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == name:
                yield value
