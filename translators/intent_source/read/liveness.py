"""Which names a function may still read after each of its compound statements, and which names statements bind.

Merges after an `if` and carries of a loop are made for live names only: a name that is rebound with another type in the
next loop is no carry of the previous one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from intent.records import dataclass, field
from translators.syntax_tree import descendants

Names = frozenset[str]
_NOTHING: Names = frozenset()


@dataclass(slots=True)
class Liveness:
    """`after[s]`: names live after compound statement s; `head[s]`: names live at the start of an iteration of loop s.

    `exposed[s]`: names that an iteration of loop s reads before it binds them.
    """

    after: dict[ast.stmt, Names] = field(default_factory=dict)
    head: dict[ast.stmt, Names] = field(default_factory=dict)
    exposed: dict[ast.stmt, Names] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Context:
    """Names live where `break` and `continue` go; whether this walk is the one that records `after` and `head`."""

    broken: Names = _NOTHING
    continued: Names = _NOTHING
    record: bool = True


def liveness(function: ast.FunctionDef) -> Liveness:
    found = Liveness()
    _block(function.body, _NOTHING, _Context(), found)
    return found


def _block(statements: Sequence[ast.stmt], after: Names, context: _Context, found: Liveness) -> Names:
    for statement in reversed(statements):
        after = _statement(statement, after, context, found)
    return after


def _statement(statement: ast.stmt, after: Names, context: _Context, found: Liveness) -> Names:
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            if context.record:
                found.after[statement] = after
            either = _block(body, after, context, found) | _block(orelse, after, context, found)
            return either | loads(test)
        case ast.For() | ast.While():
            return _loop(statement, after, context, found)
        case ast.Break():
            return context.broken
        case ast.Continue():
            return context.continued
        case ast.Return():
            return loads(statement)
        case _:
            return (after - bound((statement,))) | loads(statement)


def _loop(statement: ast.For | ast.While, after: Names, context: _Context, found: Liveness) -> Names:
    """What a block needs is what it exposes and part of what is live after it; so the head needs no fixed point."""
    match statement:
        case ast.For(iter=source):
            around, before = _NOTHING, loads(source)
        case ast.While(test=test):
            around, before = loads(test), _NOTHING
    head = after | around | _exposed(statement, found)
    if context.record:
        found.after[statement], found.head[statement] = after, head
        _block(statement.body, head, _Context(after, head), found)
    return head | before


def _exposed(statement: ast.For | ast.While, found: Liveness) -> Names:
    if statement not in found.exposed:
        names = _block(statement.body, _NOTHING, _Context(record=False), found)
        if isinstance(statement, ast.For):
            names = names - frozenset(target_names(statement.target))
        found.exposed[statement] = names
    return found.exposed[statement]


def loads(node: ast.AST) -> Names:
    """Names read by a simple statement or an expression; an augmented assignment reads its target."""
    found = {inner.id for inner in descendants(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}
    match node:
        case ast.AugAssign(target=ast.Name(id=name)):
            found.add(name)
        case _:
            pass
    return frozenset(found)


def bound(statements: Iterable[ast.stmt]) -> Names:
    """Names that the statements bind, at any depth."""
    return frozenset(name for statement in statements for name in _bound(statement))


def _bound(statement: ast.stmt) -> Iterable[str]:
    match statement:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from target_names(target)
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            yield from target_names(target)
        case ast.If(body=body, orelse=orelse) | ast.While(body=body, orelse=orelse):
            yield from bound((*body, *orelse))
        case ast.For(target=target, body=body, orelse=orelse):
            yield from target_names(target)
            yield from bound((*body, *orelse))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in aliases)
        case ast.With(body=body) | ast.Try(body=body):
            yield from bound(body)
        case _:
            pass


def target_names(target: ast.expr) -> Iterable[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from target_names(part)
        case ast.Starred(value=part):
            yield from target_names(part)
        case _:
            pass


def always_leaves(statements: Sequence[ast.stmt]) -> bool:
    """Whether control cannot reach the end of the statements, as far as their form tells."""
    for statement in statements:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue():
                return True
            case ast.If(body=body, orelse=orelse) if always_leaves(body) and always_leaves(orelse):
                return True
            case _:
                pass
    return False


def own_names(node: ast.FunctionDef) -> Names:
    """Every name the function binds: its parameters and what its statements bind."""
    arguments = node.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return frozenset(parameter.arg for parameter in parameters) | bound(node.body)
