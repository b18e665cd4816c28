"""Loops: `for` over domains, `while`, and `I.parallel`; their carries and early exits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from intent.dtypes import boolean, index
from intent.records import dataclass, field, replace
from translators.diagnostics import Diagnostic, Rejected, Span
from translators.intent_source.read import codes, rules
from translators.intent_source.read.calls import arguments
from translators.intent_source.read.checks import check_names
from translators.intent_source.read.constants import literal_help
from translators.intent_source.read.expressions import evaluate, resolve
from translators.intent_source.read.flow import computed, flag_value, is_runtime, unified, zero_like
from translators.intent_source.read.liveness import bound, target_names
from translators.intent_source.read.operands import IntrinsicName, Literal, Operand, Product
from translators.intent_source.read.scope import Binding, Builtin, Flag, Flow, Missing, OpenLoop, Poisoned
from translators.intent_source.read.walker import Walker
from translators.logical.program import (
    Block,
    Carry,
    CarryIn,
    CarryOut,
    For,
    LoopKey,
    LoopVariable,
    Parallel,
    Value,
    While,
)
from translators.logical.types import Domain, Scalar

Loop = ast.For | ast.While


@dataclass(frozen=True, slots=True)
class Carried:
    """A name that iterations hand on: its value before the loop and at the start of an iteration."""

    name: str
    inside: Operand
    initials: tuple[Value, ...]
    insides: tuple[Value, ...]


@dataclass(slots=True)
class LoopReader:
    """One ordered loop while its body is read."""

    walker: Walker
    node: Loop
    key: LoopKey
    span: Span
    carried: list[Carried] = field(default_factory=list)
    carries: list[Carry] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    # ------------------------------------------------------------------------------------------------------ entering
    def enter(self) -> None:
        """Find the names that are carried, and bind them to their values at the start of an iteration."""
        frame = self.walker.frame
        assigned = bound(self.node.body) & frame.liveness.head[self.node]
        for name, binding in list(frame.names.items()):
            if name in assigned and not isinstance(binding, (Missing, Poisoned)):
                self.carried.append(self._carry(name, binding))
            if name in assigned and isinstance(binding, Literal) and not isinstance(binding.value, bool):
                frame.literals[name] = binding
        for carried in self.carried:
            frame.names[carried.name] = self.walker.named(carried.name, carried.inside)

    def _carry(self, name: str, binding: Binding) -> Carried:
        builder = self.walker.builder
        if not is_runtime(binding):
            self.walker.here(last_assignment(self.node.body, name))
            message = f"'{name}' is no value that a loop can hand on to its next iteration"
            builder.reject(codes.CARRY, message, "give it another name inside the loop")
        initials = tuple(rules.as_value(builder, leaf) for leaf in rules.flatten(binding))  # type: ignore[arg-type]
        first = sum(len(carried.initials) for carried in self.carried)
        insides = tuple(
            builder.value(CarryIn(self.key), initial.type, first + position)
            for position, initial in enumerate(initials)
        )
        return Carried(name, rules.rebuild(binding, insides), initials, insides)  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------------------------- end of the body
    def updates(self) -> list[tuple[Value, ...]]:
        """The carried names' values at the end of the body; an error is reported where the name was assigned last."""
        found = []
        for carried in self.carried:
            try:
                found.append(self._update(carried))
            except Rejected as rejected:
                self.walker.report(self._explained(carried.name, rejected.diagnostic))
                self.failed.append(carried.name)
                found.append(carried.insides)
        return found

    def _explained(self, name: str, found: Diagnostic) -> Diagnostic:
        literal = self.walker.frame.literals.get(name)
        return found if literal is None else replace(found, help=literal_help(name, literal))

    def _update(self, carried: Carried) -> tuple[Value, ...]:
        builder, name = self.walker.builder, carried.name
        binding = self.walker.frame.names[name]
        if isinstance(binding, Poisoned):
            self.failed.append(name)
            return carried.insides
        if isinstance(binding, Missing) and self.walker.frame.flow.left is True:
            return carried.insides  # no iteration gets to its end: nobody asks for the value
        self.walker.here(last_assignment(self.node.body, name))
        if not is_runtime(binding):
            builder.reject(codes.CARRY, f"'{name}' is no value at the end of the loop, and was one before it")
        what = f"'{name}' before the loop and at the end of its body"
        return unified(self.walker, carried.inside, binding, what, codes.CARRY)[1]  # type: ignore[arg-type]

    # ------------------------------------------------------------------------------------------------------ after it
    def add(self, initial: Value, update: Value, inside: Value | None = None) -> Value:
        """One more carry; its value after the loop."""
        builder, position = self.walker.builder, len(self.carries)
        inside = inside or builder.value(CarryIn(self.key), initial.type, position)
        result = builder.value(CarryOut(self.key), initial.type, position)
        self.carries.append(Carry(initial, inside, update, result))
        return result

    def finish(self, before: dict[str, Binding], updates: list[tuple[Value, ...]]) -> None:
        """Bind names as they are after the loop."""
        frame = self.walker.frame
        frame.names = after_loop(before, frame.names, self.node)
        for carried, leaves in zip(self.carried, updates, strict=True):
            triples = zip(carried.initials, leaves, carried.insides, strict=True)
            results = tuple(self.add(initial, update, inside) for initial, update, inside in triples)
            operand = rules.rebuild(carried.inside, results)
            frame.names[carried.name] = self.walker.named(carried.name, operand)
        self.walker.poison(frozenset(self.failed))

    def exits(self, flow: Flow, broke: Value | None, returned: Value | None, endless: bool) -> int | None:
        """Carry the flags with which the body may leave the loop; the index of the carry that ends it."""
        if broke is None:
            self.walker.frame.flow = Flow()
            return None
        position = len(self.carries)
        out = self.add(self.walker.builder.constant(False, boolean), broke)
        self.walker.frame.flow = self._flow_after(flow, broke, returned, out, endless)
        return position

    def _flow_after(self, flow: Flow, broke: Value, returned: Value | None, out: Value, endless: bool) -> Flow:
        if returned is None:
            return Flow()
        builder = self.walker.builder
        result = None if flow.result is None else self._result(flow.result)
        has: Flag = out if returned is broke else self.add(builder.constant(False, boolean), returned)
        if endless and returned is broke:
            has = True  # the only way out of the loop
        return Flow(has, has if self.walker.frame.loops else False, has, result, flow.bare)

    def _result(self, result: Operand) -> Operand:
        leaves = [rules.as_value(self.walker.builder, leaf) for leaf in rules.flatten(result)]
        carried = tuple(self.add(zero_like(self.walker, leaf), leaf) for leaf in leaves)
        return rules.rebuild(result, carried)


def after_loop(before: dict[str, Binding], end: dict[str, Binding], node: Loop) -> dict[str, Binding]:
    """The names after a loop, from those before it and those at the end of its body."""
    names = dict(before)
    help = "assign it before the loop"
    missing: Binding = Missing("is assigned inside a loop only, which may not run", help)
    names.update(dict.fromkeys(sorted(bound(node.body)), missing))
    if isinstance(node, ast.For):
        gone: Binding = Missing("is the variable of a loop that has ended")
        names.update(dict.fromkeys(target_names(node.target), gone))
    names.update({name: Poisoned() for name in names if Poisoned() in (before.get(name), end.get(name))})
    return names


def last_assignment(statements: Sequence[ast.stmt], name: str) -> ast.stmt:
    """The last simple statement, at any depth, that binds the name."""
    for statement in reversed(statements):
        if name in bound((statement,)):
            inner = [*getattr(statement, "body", ()), *getattr(statement, "orelse", ())]
            return last_assignment(inner, name) if name in bound(inner) else statement
    raise AssertionError(f"nothing binds {name}")


def _reject_else(walker: Walker, node: Loop) -> None:
    if node.orelse:
        walker.here(node.orelse[0])
        walker.builder.reject(codes.NOT_LANGUAGE, "the else of a loop is not part of the language", "use a bool carry")


def _body(walker: Walker, node: Loop, kind: str, live: frozenset[str]) -> Flow:
    """Read the body into the block being built; how control leaves it."""
    from translators.intent_source.read.statements import execute

    frame = walker.frame
    frame.loops.append(OpenLoop(kind, live))
    tail, frame.tail = frame.tail, True
    frame.flow = Flow()
    try:
        execute(walker, node.body, live)
    finally:
        frame.loops.pop()
        frame.tail = tail
    return computed(walker, frame.flow)


# ------------------------------------------------------------------------------------------------------------------ for
def for_loop(walker: Walker, node: ast.For) -> None:
    """`for` over a domain, `enumerate` of one, or `I.parallel`."""
    _reject_else(walker, node)
    function = resolve(walker, node.iter.func) if isinstance(node.iter, ast.Call) else None
    match function, node.iter:
        case IntrinsicName(path="parallel"), ast.Call() as call:
            _parallel(walker, node, call)
        case Builtin(name="enumerate"), ast.Call() as call:
            domain, start = _enumerated(walker, call)
            _ordered(walker, node, domain, lambda variable: _counted(walker, domain, variable, start))
        case _:
            source = evaluate(walker, node.iter)
            walker.here(node.iter)
            _ordered(walker, node, rules.iteration_domain(walker.builder, source), lambda variable: variable)


def _enumerated(walker: Walker, call: ast.Call) -> tuple[Domain, Operand]:
    positional, keywords = arguments(walker, call)
    walker.here(call)
    match positional:
        case [source]:
            start = keywords.get("start", Literal(0))
        case [source, start]:
            pass
        case _:
            walker.builder.reject(codes.CALL, "enumerate takes a domain and a start", "for k, i in enumerate(rows):")
    return rules.iteration_domain(walker.builder, source), start


def _counted(walker: Walker, domain: Domain, variable: Value, start: Operand) -> Operand:
    """(position from `start`, coordinate)."""
    builder = walker.builder
    position: Operand = variable
    if domain.begin_polynomial.constant != 0:
        position = rules.binary(builder, "subtract", position, domain.begin)
    if domain.step != 1:
        position = rules.binary(builder, "floor_divide", position, Literal(domain.step))
    if start != Literal(0):
        position = rules.binary(builder, "add", position, start)
    return Product((position, variable))


def _ordered(walker: Walker, node: ast.For, domain: Domain, target: Callable[[Value], Operand]) -> None:
    from translators.intent_source.read.statements import store

    builder, frame = walker.builder, walker.frame
    span = walker.scope.source.header(node)
    loop = LoopReader(walker, node, LoopKey(builder.serial()), span)
    before = dict(frame.names)
    loop.enter()
    variable = builder.value(LoopVariable(loop.key, domain), Scalar(index))
    with builder.block() as body:
        walker.here(node.target)
        store(walker, node.target, target(variable))
        flow = _body(walker, node, "for", frame.liveness.head[node])
        updates, broke, returned = loop.updates(), *_flags(walker, flow)
    builder.span = span
    loop.finish(before, updates)
    leaves = loop.exits(flow, broke, returned, endless=False)
    builder.statement(For(loop.key, variable, domain, tuple(loop.carries), Block(tuple(body)), span, leaves))


def _flags(walker: Walker, flow: Flow) -> tuple[Value | None, Value | None]:
    """`broke` and `returned` as values of the body; None where they are certainly false."""
    broke = None if flow.broke is False else flag_value(walker, flow.broke)
    if flow.returned is False:
        return broke, None
    return broke, broke if flow.returned == flow.broke else flag_value(walker, flow.returned)


# ---------------------------------------------------------------------------------------------------------------- while
def while_loop(walker: Walker, node: ast.While) -> None:
    _reject_else(walker, node)
    builder, frame = walker.builder, walker.frame
    span = walker.scope.source.header(node)
    loop = LoopReader(walker, node, LoopKey(builder.serial()), span)
    before = dict(frame.names)
    loop.enter()
    with builder.block() as test:
        operand = evaluate(walker, node.test)
        walker.here(node.test)
        condition = rules.as_condition(builder, operand)
        runs = builder.constant(condition, boolean) if isinstance(condition, bool) else condition
    if condition is False:
        frame.names = before
        check_names(walker, node.body)
        return
    with builder.block() as body:
        flow = _body(walker, node, "while", frame.liveness.head[node])
        updates, broke, returned = loop.updates(), *_flags(walker, flow)
    builder.span = span
    loop.finish(before, updates)
    leaves = loop.exits(flow, broke, returned, endless=condition is True)
    blocks = Block(tuple(test)), Block(tuple(body))
    builder.statement(While(loop.key, tuple(loop.carries), blocks[0], runs, blocks[1], span, leaves))


# ------------------------------------------------------------------------------------------------------------- parallel
def _parallel(walker: Walker, node: ast.For, call: ast.Call) -> None:
    from translators.intent_source.read.statements import store

    builder, frame = walker.builder, walker.frame
    domains, is_tuple = _parallel_domains(walker, call)
    _check_no_carries(walker, node)
    span = walker.scope.source.header(node)
    key, before = LoopKey(builder.serial()), frame.names
    frame.names = dict(before)
    builder.span = walker.scope.source.span(node.target)
    variables = tuple(
        builder.value(LoopVariable(key, domain), Scalar(index), position) for position, domain in enumerate(domains)
    )
    try:
        with builder.block() as body:
            store(walker, node.target, Product(variables) if is_tuple else variables[0])
            _body(walker, node, "parallel", frozenset())
    finally:
        frame.names, frame.flow = after_loop(before, frame.names, node), Flow()
    builder.statement(Parallel(key, variables, domains, Block(tuple(body)), span))


def _parallel_domains(walker: Walker, call: ast.Call) -> tuple[tuple[Domain, ...], bool]:
    positional, keywords = arguments(walker, call)
    walker.here(call)
    match [*positional, *keywords.values()]:
        case [Product(items=items)]:
            return tuple(rules.iteration_domain(walker.builder, item) for item in items), True
        case [source] if not set(keywords) - {"source"}:
            return (rules.iteration_domain(walker.builder, source),), False
        case _:
            help = "for r, c in I.parallel((rows, columns)):"
            walker.builder.reject(codes.CALL, "I.parallel takes one domain, or one tuple of domains", help)


def _check_no_carries(walker: Walker, node: ast.For) -> None:
    """A name from outside that a point assigns may be used by that point only, after it assigned it."""
    frame = walker.frame
    shared = bound(node.body) & frame.liveness.head[node]
    for name, binding in list(frame.names.items()):
        if name in shared and not isinstance(binding, (Missing, Poisoned)):
            walker.here(last_assignment(node.body, name))
            try:
                message = f"points of a parallel loop are unordered: '{name}' cannot be carried from one to another"
                walker.builder.reject(codes.PARALLEL_CARRY, message, "reduce with I.reduce, or use an ordered loop")
            except Rejected as rejected:
                walker.report(rejected.diagnostic)
            walker.poison(frozenset({name}))
