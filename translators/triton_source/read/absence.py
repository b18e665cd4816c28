"""Arguments that a host function can do without: what is so where they are not given.

A parameter whose default is None, or whose type allows it, is taken to be None. Conditions on that are decided then,
and so are the flags of a kernel that its decorators derive from it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

from translators.triton_source.read.values import Function


class Absent:
    """The value None of an argument that was not given."""

    def __repr__(self) -> str:
        return "None"


ABSENT: Final = Absent()


def optional_parameters(function: ast.FunctionDef) -> Iterator[str]:
    """Those that may be None."""
    arguments = function.args
    positional = (*arguments.posonlyargs, *arguments.args)
    defaults = dict(zip(reversed([each.arg for each in positional]), reversed(arguments.defaults), strict=False))
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    defaults.update({each.arg: default for each, default in named if default is not None})
    for parameter in (*positional, *arguments.kwonlyargs):
        default = defaults.get(parameter.arg)
        if _is_none(default) or (default is None and _allows_none(parameter.annotation)):
            yield parameter.arg


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _allows_none(annotation: ast.expr | None) -> bool:
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return _is_none(right) or _is_none(left) or _allows_none(left) or _allows_none(right)
        case ast.Subscript(value=owner):
            return ast.unparse(owner).rpartition(".")[2] == "Optional"
        case _:
            return False


def truth(test: ast.expr, value: Callable[[ast.expr], object]) -> bool | None:
    """What a condition is where these arguments are None; None if that does not decide it."""
    match test:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as operator], comparators=[other]) if _is_none(other):
            return isinstance(operator, ast.Is) if value(left) is ABSENT else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = truth(operand, value)
            return None if inner is None else not inner
        case ast.BoolOp(op=operator, values=parts):
            known = [truth(each, value) for each in parts]
            decisive = isinstance(operator, ast.Or)
            return decisive if decisive in known else None if None in known else not decisive
        case ast.Name():
            found = value(test)
            return found if isinstance(found, bool) else None
        case _:
            return None


def flags(kernel: Function, absent: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Flags of the kernel that its decorators compute from arguments that are None."""

    def value(node: ast.expr) -> object:
        match node:
            case ast.Subscript(slice=ast.Constant(value=str() as name)) if name in absent:
                return ABSENT
            case _:
                return None

    for table in (node for each in kernel.decorators for node in ast.walk(each) if isinstance(node, ast.Dict)):
        for key, given in zip(table.keys, table.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(given, ast.Lambda):
                known = truth(given.body, value)
                if known is not None:
                    yield key.value, known
