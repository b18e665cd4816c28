"""`if`, `break`, `continue` and `return`: runtime choices with merges, compile-time choices resolved."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from intent.records import replace
from translators.intent_source.read import codes, rules
from translators.intent_source.read.checks import check_names
from translators.intent_source.read.expressions import evaluate
from translators.intent_source.read.flow import Arm, computed, join
from translators.intent_source.read.liveness import always_leaves
from translators.intent_source.read.operands import Keyword
from translators.intent_source.read.scope import Flag, Flow, Negated
from translators.intent_source.read.walker import Walker
from translators.logical.program import Value
from translators.syntax_tree import descendants

Statements = Sequence[ast.stmt]
_EXITS = (ast.Return, ast.Break, ast.Continue)


def branch(walker: Walker, node: ast.If, rest: Statements, live: frozenset[str]) -> bool:
    """An `if`, and with it the rest of its block where one side always leaves: whether `rest` was read."""
    condition = evaluate(walker, node.test)
    walker.here(node.test)
    decision = rules.as_condition(walker.builder, condition)
    if isinstance(decision, bool):
        return _static_branch(walker, node, decision, rest, live)
    return _runtime_branch(walker, node, decision, rest, live)


def _runtime_branch(walker: Walker, node: ast.If, condition: Value, rest: Statements, live: frozenset[str]) -> bool:
    leaves = always_leaves(node.body), always_leaves(node.orelse)
    takes_rest = leaves[0] != leaves[1]
    after = live if takes_rest else walker.frame.liveness.after[node]
    with in_tail(walker, takes_rest or not rest):
        then = read_arm(walker, [*node.body, *(rest if takes_rest and leaves[1] else ())], after)
        orelse = read_arm(walker, [*node.orelse, *(rest if takes_rest and leaves[0] else ())], after)
        walker.builder.span = walker.scope.source.header(node)
        join(walker, condition, then, orelse, after)
    return takes_rest


@contextmanager
def in_tail(walker: Walker, is_last: bool) -> Iterator[None]:
    """Whether what is read now is the last of its block, and so perhaps of the loop or function."""
    frame = walker.frame
    tail, frame.tail = frame.tail, frame.tail and is_last
    try:
        yield
    finally:
        frame.tail = tail


def _static_branch(walker: Walker, node: ast.If, decision: bool, rest: Statements, live: frozenset[str]) -> bool:
    from translators.intent_source.read.statements import execute

    taken, other = (node.body, node.orelse) if decision else (node.orelse, node.body)
    check_names(walker, other)
    if any(isinstance(inner, _EXITS) for statement in taken for inner in descendants(statement)):
        execute(walker, [*taken, *rest], live)
        return True
    with in_tail(walker, not rest):
        execute(walker, taken, walker.frame.liveness.after[node])
    return False


def read_arm(walker: Walker, statements: Statements, live: frozenset[str]) -> Arm:
    """Read statements into a block of their own, and leave names and flow as they were."""
    from translators.intent_source.read.statements import execute

    frame = walker.frame
    names, flow = frame.names, frame.flow
    frame.names, frame.flow = dict(names), Flow()
    try:
        with walker.builder.block() as collected:
            execute(walker, statements, live)
            frame.flow = computed(walker, frame.flow)
        return Arm(tuple(collected), frame.names, frame.flow)
    finally:
        frame.names, frame.flow = names, flow


def guard(walker: Walker, left: Flag, rest: Statements, live: frozenset[str]) -> None:
    """The rest of a block that control may have left."""
    frame = walker.frame
    exited = Arm((), frame.names, replace(frame.flow, left=True))
    remaining = read_arm(walker, rest, live)
    walker.builder.span = walker.scope.source.header(rest[0])
    match left:
        case Negated(value=value):
            join(walker, value, remaining, exited, live)
        case bool():
            raise AssertionError("a block that is certainly left has no rest")
        case _:
            join(walker, left, exited, remaining, live)


# ---------------------------------------------------------------------------------------------------------------- exits
def leave(walker: Walker, node: ast.Return | ast.Break | ast.Continue) -> None:
    match node:
        case ast.Return():
            walker.frame.flow = _return(walker, node)
        case ast.Break():
            _check_in_loop(walker, "break")
            if walker.frame.loops[-1].kind == "parallel":
                message = "break cannot end a parallel loop: its points are unordered"
                walker.builder.reject(
                    codes.PARALLEL_BREAK, message, "continue skips this point; `for i in rows:` is ordered"
                )
            walker.frame.flow = Flow(left=True, broke=True)
        case ast.Continue():
            _check_in_loop(walker, "continue")
            walker.frame.flow = Flow(left=True)


def _check_in_loop(walker: Walker, word: str) -> None:
    if not walker.frame.loops:
        walker.builder.reject(codes.LOOP_EXIT, f"{word} stands outside of a loop")


def _return(walker: Walker, node: ast.Return) -> Flow:
    frame = walker.frame
    if any(loop.kind == "parallel" for loop in frame.loops):
        message = "return cannot end a parallel loop: its points are unordered"
        walker.builder.reject(codes.PARALLEL_RETURN, message, "continue skips this point")
    value = Keyword("None") if node.value is None else evaluate(walker, node.value)
    bare = value == Keyword("None")
    if frame.function is None and not bare:
        walker.here(node)
        message = "a kernel returns nothing to the host"
        walker.builder.reject(codes.KERNEL_RETURN, message, "write the result into an Out view")
    return Flow(True, bool(frame.loops), True, None if bare else value, bare)
