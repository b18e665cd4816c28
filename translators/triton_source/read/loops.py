"""Loops of a kernel: the body runs once, with symbolic values for the ordinal and what is carried."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from intent import dtypes as d
from intent.records import dataclass, replace
from translators.algebra.polynomial import Polynomial, atomic, ceiling_divide, maximum, number
from translators.tile.effects import LoopCarry, LoopRecord
from translators.tile.expression import Axis, Expression, LoopToken
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.operations import ONE, expect_integer_products, nonnegative
from translators.triton_source.read.structures import Part, parts, rebuilt, same_structure
from translators.triton_source.read.values import BlockPointer, Builtin, NotLifted, Pointer, Shape, Tile, Value

MOST_UNROLLED = 64
MOST_EXPRESSIONS = 12_000  # of a kernel while static ranges are unrolled
_RANGES = ("range", "tl.range", "tl.static_range")


def run_loop(execution: Execution, loop: ast.For) -> None:
    line = execution.line
    kind, bounds = _bounds(execution, loop)
    if kind == "tl.static_range":
        _unroll(execution, loop, bounds)
        return
    if any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in ast.walk(loop)):
        raise NotLifted("a loop that is left or continued early", line)
    low, high, step = (_coordinate(execution, bound) for bound in bounds)
    trip = _trip(low, high, step)
    _summarise(execution, loop, low, step, trip if nonnegative(trip) else maximum(trip, number(0)))


def run_while(execution: Execution, loop: ast.While) -> None:
    """A loop that counts: `while v < high: ...; v += step` is one over a range, after which v has its last value."""
    counted = _counted(loop)
    if counted is None:
        _run_until(execution, loop)
        return
    name, bounds = counted
    low, high, step = (_coordinate(execution, execution.value(bound)) for bound in bounds)
    trip = _trip(low, high, step)
    trip = trip if nonnegative(trip) else maximum(trip, number(0))
    over = ast.For(ast.Name(name, ast.Store()), loop.test, loop.body[:-1], [], lineno=loop.lineno)
    _summarise(execution, over, low, step, trip)
    execution.names[name] = execution.operations.integer(low + step * trip)


def _run_until(execution: Execution, loop: ast.While) -> None:
    """A loop whose condition is told from what it carries. It stores nothing: how often it runs is not known."""
    statement = f"the statement '{ast.unparse(loop).splitlines()[0]}'"
    left = any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in ast.walk(loop))
    if left or loop.orelse or _waits(loop):
        raise NotLifted(statement, execution.line)
    stored = len(execution.stores)
    token = LoopToken("step", execution.arena.serial())
    trip = atomic(execution.arena.make("iterations", d.index, (), token))
    _carry_through(execution, loop.body, _Iterations(token, trip, test=loop.test))
    if len(execution.stores) != stored:
        raise NotLifted(f"{statement} stores, and nothing tells how often", execution.line)


def _waits(loop: ast.While) -> bool:
    """For what other programs do: its condition depends on nothing that it changes, or is read anew every time."""
    read = {node.id for node in ast.walk(loop.test) if isinstance(node, ast.Name)}
    volatile = any(isinstance(node, ast.keyword) and node.arg == "volatile" for node in ast.walk(loop))
    return volatile or read.isdisjoint(_assigned(loop.body))


def _counted(loop: ast.While) -> tuple[str, tuple[ast.expr, ast.expr, ast.expr]] | None:
    """The name that counts, and (low, high, step), if the last statement counts and nothing else changes them."""
    left = any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in ast.walk(loop))
    match loop.test:
        case ast.Compare(left=ast.Name(id=name) as low, ops=[operation], comparators=[high]) if not left:
            step = _step(loop.body[-1], name)
        case _:
            return None
    if step is None or loop.orelse:
        return None
    fixed = {node.id for node in (*ast.walk(high), *ast.walk(step)) if isinstance(node, ast.Name)}
    if (fixed | {name}) & set(_assigned(loop.body[:-1])) or name in fixed:
        return None
    included = {ast.Lt: 0, ast.LtE: 1, ast.Gt: 0, ast.GtE: -1}.get(type(operation))
    down = isinstance(operation, ast.Gt | ast.GtE)
    if included is None or down is not isinstance(step, ast.UnaryOp):
        return None
    end = ast.BinOp(high, ast.Add(), ast.Constant(included)) if included else high
    return name, (ast.Name(low.id, ast.Load()), end, step)


def _step(statement: ast.stmt, name: str) -> ast.expr | None:
    """What is added to a name, negative if it is subtracted."""
    match statement:
        case ast.AugAssign(target=ast.Name(id=target), op=operator, value=step):
            pass
        case ast.Assign(
            targets=[ast.Name(id=target)], value=ast.BinOp(left=ast.Name(id=source), op=operator, right=step)
        ) if source == target:
            pass
        case _:
            return None
    if target != name or not isinstance(operator, ast.Add | ast.Sub):
        return None
    return step if isinstance(operator, ast.Add) else ast.UnaryOp(ast.USub(), step)


def _trip(low: Polynomial, high: Polynomial, step: Polynomial) -> Polynomial:
    """The number of iterations, if there are any: a step down counts from the other end."""
    if nonnegative(step):
        return ceiling_divide(high - low, step)
    if nonnegative(-step):
        return ceiling_divide(low - high, -step)
    raise NotLifted("a loop whose step may go up or down")


def _bounds(execution: Execution, loop: ast.For) -> tuple[str, tuple[Value, Value, Value]]:
    if not isinstance(loop.iter, ast.Call) or not isinstance(loop.target, ast.Name) or loop.orelse:
        raise NotLifted("a loop over anything but a range")
    function = execution.value(loop.iter.func)
    if not isinstance(function, Builtin) or function.name not in _RANGES:
        raise NotLifted("a loop over anything but a range")
    arguments = [execution.value(argument) for argument in loop.iter.args]
    named = {
        each.arg: execution.value(each.value) for each in loop.iter.keywords if each.arg in ("step", "start", "end")
    }
    if named:
        arguments.extend(named.values())
    match arguments:
        case [high]:
            return function.name, (0, high, 1)
        case [low, high]:
            return function.name, (low, high, 1)
        case [low, high, step]:
            return function.name, (low, high, step)
        case _:
            raise NotLifted("the arguments of a range")


def _coordinate(execution: Execution, bound: Value) -> Polynomial:
    tile = execution.scalar(bound)
    return execution.operations.offset(tile)


def _unroll(execution: Execution, loop: ast.For, bounds: tuple[Value, ...]) -> None:
    low, high, step = (execution.known_integer(bound) if isinstance(bound, Polynomial) else bound for bound in bounds)
    if not (isinstance(low, int) and isinstance(high, int) and isinstance(step, int) and step):
        raise NotLifted("a static range needs bounds known at compile time")
    ordinals = range(low, high, step)
    if len(ordinals) > MOST_UNROLLED:
        raise NotLifted(f"a static range of {len(ordinals)} steps")
    for ordinal in ordinals:
        if execution.arena.size > MOST_EXPRESSIONS:
            raise NotLifted("static ranges with too many steps in all")
        execution.assign(loop.target, ordinal)
        if execution.block(loop.body) is not None:
            raise NotLifted("a return within a loop")


# ---------------------------------------------------------------------------------------------------- symbolic
# iteration
def _summarise(execution: Execution, loop: ast.For, low: Polynomial, step: Polynomial, trip: Polynomial) -> None:
    assert isinstance(loop.target, ast.Name)
    token = LoopToken(loop.target.id, execution.arena.serial())
    _carry_through(execution, loop.body, _Iterations(token, trip, loop.target.id, low + step * atomic(token)))


@dataclass(frozen=True, slots=True)
class _Iterations:
    """How often a loop runs: so many times, with a number that has a name; or for as long as a test holds."""

    token: LoopToken
    trip: Polynomial
    name: str = ""
    value: Polynomial = Polynomial()
    test: ast.expr | None = None


def _carry_through(execution: Execution, body: Sequence[ast.stmt], iterations: _Iterations) -> None:
    line, token, name = execution.line, iterations.token, iterations.name
    assigned = sorted(set(_assigned(body)) - {name})
    carried = [each for each in assigned if each in execution.names and _changes(execution.names[each])]
    before = dict(execution.names)
    initial = [_Part(each, part) for each in carried for part in parts(execution.operations, before[each])]
    _rename(execution, before, carried, [_within(execution, token, at, each.value) for at, each in enumerate(initial)])
    if name:
        execution.names[name] = execution.operations.integer(iterations.value)
    parents = tuple(execution.loops)
    begin = execution.tick()
    condition = None
    if iterations.test is not None:
        condition = execution.operations.truth(execution.scalar(execution.value(iterations.test)))
        if condition.operation == "constant":
            raise NotLifted("a loop whose condition nothing changes", line)
    _run_body(execution, body, token)
    for each in carried:
        same_structure(before[each], execution.names[each])
    updates = [part for each in carried for part in parts(execution.operations, execution.names[each])]
    if len(updates) != len(initial):
        raise NotLifted("what a loop carries changes its kind")
    pairs = zip(initial, updates, strict=True)
    carries = tuple(_carry(execution, each.name, each.value, update) for each, update in pairs)
    record = LoopRecord(token, iterations.trip, carries, parents, begin, execution.tick(), line, condition)
    execution.records.append(record)
    execution.names = {each: value for each, value in before.items() if each not in assigned or each in carried}
    execution.names.pop(name, None)  # its last value exists only if there was an iteration
    _rename(execution, before, carried, [_after(execution, token, at, each.value) for at, each in enumerate(initial)])


@dataclass(frozen=True, slots=True)
class _Part:
    """One number of what a loop carries, and the name that it belongs to."""

    name: str
    value: Tile | Pointer


def _rename(execution: Execution, before: Mapping[str, Value], carried: Sequence[str], made: Sequence[Part]) -> None:
    """What is carried, made of other parts."""
    remaining = iter(made)
    for name in carried:
        execution.names[name] = rebuilt(before[name], remaining)


def _run_body(execution: Execution, body: Sequence[ast.stmt], token: LoopToken) -> None:
    execution.loops.append(token)
    returned = execution.block(body)
    execution.loops.pop()
    if returned is not None:
        raise NotLifted("a return within a loop")


def _assigned(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _changes(value: Value) -> bool:
    """Whether a name can hold another run-time value after an iteration (types and functions cannot)."""
    if isinstance(value, tuple):
        return bool(value) and all(map(_changes, value))
    return isinstance(value, Tile | Pointer | BlockPointer | Polynomial | int | float)


def _own_lanes(execution: Execution, shape: Shape) -> tuple[Axis, ...]:
    lanes = execution.operations.lanes
    return tuple(lanes[dimension] for dimension, extent in enumerate(shape) if extent != ONE)


def _node(execution: Execution, operation: str, place: tuple[LoopToken, int], value: Tile | Pointer) -> Tile | Pointer:
    ops = execution.operations
    coordinates = tuple(ops.index(atomic(lane)) for lane in _own_lanes(execution, value.shape))
    if isinstance(value, Pointer):
        made = execution.arena.make(operation, d.index, coordinates, place)
        return replace(value, offset=atomic(made))
    if value.dtype.is_integer and value.value.dtype == d.index:
        made = execution.arena.make(operation, d.index, coordinates, place)
        return replace(value, value=ops.index(atomic(made)))
    return replace(value, value=execution.arena.make(operation, value.dtype, coordinates, place))


def _within(execution: Execution, token: LoopToken, ordinal: int, value: Tile | Pointer) -> Tile | Pointer:
    return _node(execution, "carry", (token, ordinal), value)


def _after(execution: Execution, token: LoopToken, ordinal: int, value: Tile | Pointer) -> Tile | Pointer:
    return _node(execution, "carried", (token, ordinal), value)


def _carry(execution: Execution, name: str, initial: Tile | Pointer, update: Value) -> LoopCarry:
    lanes, extents = _own_lanes(execution, initial.shape), _padded(initial.shape)
    if isinstance(initial, Pointer):
        if not isinstance(update, Pointer) or update.parameter != initial.parameter or update.shape != initial.shape:
            raise NotLifted(f"the pointer '{name}' changes its kind in a loop")
        ops = execution.operations
        return LoopCarry(name, d.index, lanes, ops.index(initial.offset), ops.index(update.offset), extents)
    new = execution.operations.tile(update)
    if new.dtype != initial.dtype or _padded(new.shape) != _padded(initial.shape):
        if initial.dtype.is_integer and new.dtype.is_float:
            expect_integer_products(new)
        raise NotLifted(f"'{name}' changes its type or shape in a loop")
    return LoopCarry(name, initial.dtype, lanes, *_alike(execution, initial, new), extents)


def _alike(execution: Execution, initial: Tile, new: Tile) -> tuple[Expression, Expression]:
    """Both ends of a carry as coordinates, or both as data."""
    if initial.value.dtype == d.index and new.value.dtype == d.index:
        return initial.value, new.value
    if initial.value.dtype == d.index:
        # The symbolic value was a coordinate; what it becomes is data, which only the rules for reductions can read.
        return initial.value, new.value
    return execution.operations.data(initial), execution.operations.data(new)


def _padded(shape: Shape) -> Shape:
    return tuple(extent for extent in shape if extent != ONE)
