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
    """Greedy: the first smaller program that still fails becomes the next one, until none does or the time is over."""
    end = time.monotonic() + seconds
    smaller: RandomProgram | None = program
    while smaller is not None:
        program = smaller
        smaller = next((each for each in _until(end, _candidates(program)) if fails(each)), None)
    return program


def _until(end: float, candidates: Iterator[RandomProgram]) -> Iterator[RandomProgram]:
    for candidate in candidates:
        if time.monotonic() > end:
            return
        yield candidate


def _candidates(program: RandomProgram) -> Iterator[RandomProgram]:
    seen = {program.text}
    for tree in _smaller_trees(program.text):
        text = _without_unused(ast.unparse(ast.fix_missing_locations(tree)))
        if text not in seen:
            seen.add(text)
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
def _smaller_trees(text: str) -> Iterator[ast.Module]:
    """Trees with one statement removed or unwrapped, then with one expression replaced by a part of it."""
    count = sum(isinstance(node, ast.stmt) for node in ast.walk(_kernel(ast.parse(text))))
    for position in reversed(range(1, count)):
        for unwrap in (False, True):
            tree = ast.parse(text)
            if _remove_statement(_kernel(tree), position, unwrap):
                yield tree
    yield from _smaller_expressions(text)


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


def _smaller_expressions(text: str) -> Iterator[ast.Module]:
    count = sum(1 for _ in _slots(_kernel(ast.parse(text))))
    for position in range(count):
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
    used = {node.id for statement in kernel.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    kernel.args.args = [argument for argument in kernel.args.args if argument.arg in used]
    tree.body = [
        node for node in tree.body if not isinstance(node, ast.FunctionDef) or node is kernel or node.name in used
    ]
    return re.sub(r"\n\n+", "\n\n", ast.unparse(tree)) + "\n"
