"""Statements: bindings, stores, and the dispatch to control flow. An error ends its statement, not the reading."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NoReturn

from intent.records import replace
from translators.diagnostics import Diagnostic, Rejected
from translators.intent_source.read import codes, control, loops, rules
from translators.intent_source.read.constants import fold, literal_help
from translators.intent_source.read.expressions import binary, evaluate, subscript_items
from translators.intent_source.read.liveness import bound, loads
from translators.intent_source.read.operands import Keyword, Operand, Product, ShapeOf, Token
from translators.intent_source.read.scope import Abandoned
from translators.intent_source.read.walker import Walker
from translators.logical.program import Value

Statements = Sequence[ast.stmt]


def execute(walker: Walker, statements: Statements, live: frozenset[str]) -> None:
    """Read a block; `live` are the names read after it. Stops where control has left the block for certain."""
    for position, statement in enumerate(statements):
        rest = statements[position + 1 :]
        took_rest = _guarded(walker, statement, rest, live)
        left = walker.frame.flow.left
        if took_rest or left is True:
            return
        if left is not False:
            if rest:
                control.guard(walker, left, rest, live)
            return


def _guarded(walker: Walker, statement: ast.stmt, rest: Statements, live: frozenset[str]) -> bool:
    """Read one statement and record what is wrong with it; its names are poisoned then."""
    try:
        walker.here(statement)
        return _statement(walker, statement, rest, live)
    except Rejected as rejected:
        walker.report(_explained(walker, statement, rejected.diagnostic))
    except Abandoned:
        walker.errors += 1  # of something reported elsewhere: the kernel is incomplete all the same
    walker.poison(bound((statement,)))
    return False


def _explained(walker: Walker, statement: ast.stmt, found: Diagnostic) -> Diagnostic:
    """Dtypes that differ because a carried name began as a bare literal are mended where it began."""
    if found.code not in (codes.DTYPES_DIFFER, codes.INDEX_MIXED, codes.BRANCHES_DIFFER):
        return found
    mentioned = loads(statement) | {name for name in bound((statement,)) if f"'{name}'" in found.message}
    for name in sorted(mentioned & set(walker.frame.literals)):
        return replace(found, help=literal_help(name, walker.frame.literals[name]))
    return found


def _statement(walker: Walker, statement: ast.stmt, rest: Statements, live: frozenset[str]) -> bool:
    """Whether the statement has read `rest` too."""
    match statement:
        case ast.If():
            return control.branch(walker, statement, rest, live)
        case ast.For():
            loops.for_loop(walker, statement)
        case ast.While():
            loops.while_loop(walker, statement)
        case ast.Assign(targets=targets, value=value):
            _assign(walker, targets, value)
        case ast.AnnAssign():
            _annotated(walker, statement)
        case ast.AugAssign():
            _augmented(walker, statement)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.Expr(value=value):
            evaluate(walker, value)
        case ast.Return() | ast.Break() | ast.Continue():
            control.leave(walker, statement)
        case ast.Assert():
            _assertion(walker, statement)
        case _:
            _not_language(walker, statement)
    return False


# ---------------------------------------------------------------------------------------------------------- assignments
def _assign(walker: Walker, targets: list[ast.expr], value: ast.expr) -> None:
    match targets:
        case [ast.Name(id=name)]:
            walker.builder.target = name
    try:
        operand = evaluate(walker, value)
    finally:
        walker.builder.target = None
    if operand == Keyword("None") and isinstance(value, ast.Call):
        walker.here(value)
        walker.builder.reject(codes.NOT_A_VALUE, "this call gives no value")
    for target in targets:
        store(walker, target, operand, value)


def store(walker: Walker, target: ast.expr, operand: Operand, value: ast.expr | None = None) -> None:
    """Bind or write one target of an assignment or loop; `value` is the assigned expression, where there is one."""
    match target:
        case ast.Name(id=name):
            renames = not isinstance(value, ast.Name)  # `b = a` gives an old value no new name
            walker.bind(name, operand, target, renames)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items: tuple[Operand, ...] = unpack(walker, target, operand, len(parts))
            for part, item, source in zip(parts, items, _sources(value, len(parts)), strict=True):
                store(walker, part, item, source)
        case ast.Subscript(value=memory, slice=index):
            base, items = evaluate(walker, memory), subscript_items(walker, index)
            walker.here(target)
            rules.assign(walker.builder, base, items, operand)
        case ast.Starred():
            walker.here(target)
            walker.builder.reject(codes.NOT_LANGUAGE, "starred targets are not part of the language", "name every item")
        case _:
            walker.here(target)
            walker.builder.reject(codes.NOT_LANGUAGE, "fields cannot be assigned", "build a new I.record(...)")


def _sources(value: ast.expr | None, count: int) -> list[ast.expr | None]:
    """The expressions of the items, where the tuple is written out."""
    match value:
        case ast.Tuple(elts=parts) if len(parts) == count:
            return list(parts)
        case _:
            return [None] * count


def unpack(walker: Walker, target: ast.Tuple | ast.List, operand: Operand, count: int) -> tuple[Operand, ...]:
    for part in target.elts:
        if isinstance(part, ast.Starred):
            store(walker, part, operand)
    walker.here(target)
    match operand:
        case Product(items=items):
            found: tuple[Operand, ...] = items
        case ShapeOf(extents=extents):
            found = extents
        case _:
            help = "write the index out: a, b = x[0], x[1]" if isinstance(operand, Value) else None
            walker.builder.reject(codes.UNPACK, "only tuples and shapes can be unpacked", help)
    if len(found) != count:
        walker.builder.reject(codes.UNPACK, f"there are {count} targets for {len(found)} values")
    return found


def _annotated(walker: Walker, statement: ast.AnnAssign) -> None:
    """`acc: I.f32 = 0.0` gives the literal its dtype."""
    annotation = fold(walker.scope, statement.annotation)
    if not isinstance(annotation, Token):
        walker.here(statement.annotation)
        walker.builder.reject(codes.ANNOTATION, "the annotation of a local name is a dtype", "acc: I.f32 = 0.0")
    if statement.value is None:
        walker.builder.reject(codes.NOT_LANGUAGE, "a declaration without a value has no meaning", "give it a value")
    operand = evaluate(walker, statement.value)
    walker.here(statement.value)
    store(walker, statement.target, rules.as_value(walker.builder, operand, annotation.dtype))


def _augmented(walker: Walker, statement: ast.AugAssign) -> None:
    """`x += v` rebinds x; `o[i] += v` reads and writes one place, whose index is evaluated once."""
    match statement.target:
        case ast.Name(id=name):
            current = evaluate(walker, ast.copy_location(ast.Name(name, ast.Load()), statement.target))
            value = evaluate(walker, statement.value)
            store(walker, statement.target, binary(walker, statement, type(statement.op), current, value))
        case ast.Subscript(value=value, slice=index):
            base, items = evaluate(walker, value), subscript_items(walker, index)
            walker.here(statement.target)
            current = rules.subscript(walker.builder, base, items)
            changed = binary(walker, statement, type(statement.op), current, evaluate(walker, statement.value))
            walker.here(statement)
            rules.assign(walker.builder, base, items, changed)
        case target:
            walker.here(target)
            walker.builder.reject(codes.NOT_LANGUAGE, "fields cannot be assigned", "build a new I.record(...)")


# ------------------------------------------------------------------------------------------------------------ the rest
def _assertion(walker: Walker, statement: ast.Assert) -> None:
    condition = rules.as_condition(walker.builder, evaluate(walker, statement.test))
    walker.here(statement)
    if not isinstance(condition, bool):
        message = "assert checks compile-time values, and this is known at run time only"
        walker.builder.reject(codes.ASSERTION, message, "check it in host code")
    if not condition:
        said = ast.unparse(statement.msg or statement.test)
        walker.builder.reject(codes.ASSERTION, f"the assertion does not hold: {said}")


def _not_language(walker: Walker, statement: ast.stmt) -> NoReturn:
    help = None
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            what, help = "nested functions are", "define it with @intent.fn at the level of the file"
        case ast.ClassDef():
            what = "classes inside a kernel are"
        case ast.Import() | ast.ImportFrom():
            what, help = "imports inside a kernel are", "import at the top of the file"
        case ast.Global() | ast.Nonlocal():
            what, help = "global and nonlocal are", "pass values as arguments"
        case ast.With() | ast.Try() | ast.Raise():
            what = "with, try and raise are"
        case ast.Delete():
            what = "del is"
        case ast.Match():
            what, help = "match is", "write if and elif"
        case _:
            what = "this statement is"
    walker.builder.reject(codes.NOT_LANGUAGE, f"{what} not part of the language", help)
