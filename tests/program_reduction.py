"""Making a failing random program smaller while it keeps failing in the same way: for people who read fuzz reports."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator

from generators import RandomProgram

from intent.records import replace

Fails = Callable[[RandomProgram], bool]


def reduced(program: RandomProgram, fails: Fails, seconds: float = 60.0) -> RandomProgram:
    """Passes over the statements and expressions, from the last, until none gets smaller or the time is over."""
    end = time.monotonic() + seconds
    before = None
    while program != before and time.monotonic() < end:
        before = program
        program = _passed(program, fails, end, _statement_count, _without_statement)
        program = _passed(program, fails, end, _expression_count, _smaller_expression)
    return program


def _passed(
    program: RandomProgram,
    fails: Fails,
    end: float,
    count: Callable[[str], int],
    smaller: Callable[[str, int], Iterator[ast.Module]],
) -> RandomProgram:
    """One pass: at each position the first smaller program that still fails becomes the next one."""
    position = count(program.text) - 1
    while position >= 0 and time.monotonic() < end:
        for candidate in _candidates(program, smaller(program.text, position)):
            if fails(candidate):
                program = candidate
                break
        position = min(position, count(program.text)) - 1
    return program


def _candidates(program: RandomProgram, trees: Iterator[ast.Module]) -> Iterator[RandomProgram]:
    for tree in trees:
        text = _without_unused(ast.unparse(ast.fix_missing_locations(tree)))
        if text != program.text:
            yield _with_text(program, text)


def _with_text(program: RandomProgram, text: str) -> RandomProgram:
    """The parameters are those that the text still has."""
    kernel = _kernel(ast.parse(text))
    names = {argument.arg for argument in kernel.args.args}
    views = tuple(view for view in program.views if view.name in names)
    return replace(
        program, text=text, views=views, scalars=tuple(each for each in program.scalars if each.text in names)
    )


def _kernel(tree: ast.Module) -> ast.FunctionDef:
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "k")


# ----------------------------------------------------------------------------------------------------------- candidates
def _statement_count(text: str) -> int:
    """Without the definition of the kernel itself."""
    return sum(isinstance(node, ast.stmt) for node in ast.walk(_kernel(ast.parse(text)))) - 1


def _without_statement(text: str, position: int) -> Iterator[ast.Module]:
    """The statement removed, or replaced by its body."""
    for unwrap in (False, True):
        tree = ast.parse(text)
        if _remove_statement(_kernel(tree), position + 1, unwrap):
            yield tree


def _remove_statement(kernel: ast.FunctionDef, position: int, unwrap: bool) -> bool:
    target = [node for node in ast.walk(kernel) if isinstance(node, ast.stmt)][position]
    for owner in ast.walk(kernel):
        for name in ("body", "orelse"):
            body = getattr(owner, name, None)
            if isinstance(body, list) and target in body:
                place = body.index(target)
                inner = getattr(target, "body", []) if unwrap else []
                if unwrap and not inner:
                    return False
                body[place : place + 1] = inner
                return bool(body) or name == "orelse"
    return False


def _expression_count(text: str) -> int:
    return sum(1 for _ in _slots(_kernel(ast.parse(text))))


def _smaller_expression(text: str, position: int) -> Iterator[ast.Module]:
    """The expression replaced by one of its parts."""
    for part in range(4):
        tree = ast.parse(text)
        node, set_value = list(_slots(_kernel(tree)))[position]
        parts = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        if isinstance(node, ast.Call):
            parts = node.args
        if part < len(parts):
            set_value(parts[part])
            yield tree


def _slots(kernel: ast.FunctionDef) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    """Operations, calls and conditions with a setter for their place."""
    for statement in kernel.body:
        for owner in ast.walk(statement):
            for name, value in ast.iter_fields(owner):
                if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Call | ast.Compare | ast.BoolOp):
                    yield value, lambda new, owner=owner, name=name: setattr(owner, name, new)
                if isinstance(value, list):
                    yield from _list_slots(value)


def _list_slots(values: list[object]) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    for position, value in enumerate(values):
        if isinstance(value, ast.BinOp | ast.UnaryOp | ast.Call | ast.Compare | ast.BoolOp):
            yield value, lambda new, position=position: values.__setitem__(position, new)


# -------------------------------------------------------------------------------------------------------------- tidying
def _without_unused(text: str) -> str:
    """Drop parameters that nothing uses and helpers that nothing calls."""
    tree = ast.parse(text)
    kernel = _kernel(tree)
    used = _names(*kernel.body)
    kernel.args.args = [argument for argument in kernel.args.args if argument.arg in used]
    helpers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef) and node is not kernel}
    for name in reversed(helpers):  # a helper stands after those that it calls
        if name in used:
            used |= _names(helpers[name])
    tree.body = [node for node in tree.body if not isinstance(node, ast.FunctionDef) or node.name in {"k", *used}]
    return re.sub(r"\n\n+", "\n\n", ast.unparse(tree)) + "\n"


def _names(*statements: ast.stmt) -> set[str]:
    return {node.id for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)}
