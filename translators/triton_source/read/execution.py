"""Symbolic execution of one kernel: its statements in order, callees inlined, loops run once with symbolic carries.

In: a device function and what is known of its parameters. Out: its effects. Bounds, tilings and views are not its
business; what it cannot give a meaning raises `NotLifted` with the line.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from intent import dtypes as d
from intent.records import dataclass, field, replace
from translators.algebra.effort import Effort
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic, number
from translators.tile.effects import Address, LoopRecord, StoreEffect
from translators.tile.expression import Arena, Axis, Expression, LoopToken
from translators.triton_source.read.operations import ONE, Operations
from translators.triton_source.read.source import TritonFile
from translators.triton_source.read.values import Lanes, NeedsValue, NotLifted, Pointer, Shape, Tile, Value

MOST_LANES = 6


@dataclass(frozen=True, slots=True)
class Returned:
    """A block ended in `return`."""

    value: Value


@dataclass(slots=True)
class Execution:
    """The state of one kernel's execution. `names` is the current function's scope, `guards` its conditions."""

    file: TritonFile
    arena: Arena
    operations: Operations
    names: dict[str, Value] = field(default_factory=dict)
    guards: list[Expression] = field(default_factory=list)
    loops: list[LoopToken] = field(default_factory=list)
    records: list[LoopRecord] = field(default_factory=list)
    stores: list[StoreEffect] = field(default_factory=list)
    programs: dict[int, Axis] = field(default_factory=dict)
    clock: int = 0
    remarks: dict[str, None] = field(default_factory=dict)
    integer_types: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)
    bytes: frozenset[str] = frozenset()  # parameters whose elements the kernel sees as bytes
    line: int = 0

    # ---------------------------------------------------------------------------------------------------- statements
    def block(self, statements: Sequence[ast.stmt]) -> Returned | None:
        for position, statement in enumerate(statements):
            self.line = statement.lineno
            rest = statements[position + 1 :]
            match statement:
                case ast.Return(value=value):
                    return Returned(None if value is None else self.value(value))
                case ast.If():
                    ended, returned = self._if(statement, rest)
                    if ended:
                        return returned
                case _:
                    self._statement(statement)
        return None

    def _statement(self, statement: ast.stmt) -> None:
        from translators.triton_source.read.loops import run_loop, run_while

        match statement:
            case ast.Assign(targets=targets, value=value):
                made = self.value(value)
                for target in targets:
                    self.assign(target, made)
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value):
                left = self.value(ast.Name(target.id, ast.Load()))
                self.assign(target, self.binary(operator, left, self.value(value)))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.value(value))
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.value(value)
            case ast.For():
                run_loop(self, statement)
            case ast.While():
                run_while(self, statement)
            case ast.Pass() | ast.Assert() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                raise NotLifted(f"the statement '{ast.unparse(statement).splitlines()[0]}'")

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                if not isinstance(value, tuple) or len(value) != len(targets):
                    raise NotLifted("a tuple is taken apart into a different number of names")
                for each, part in zip(targets, value, strict=True):
                    self.assign(each, part)
            case _:
                raise NotLifted(f"an assignment to '{ast.unparse(target)}'")

    def _if(self, statement: ast.If, rest: Sequence[ast.stmt]) -> tuple[bool, Returned | None]:
        """(whether the block is over, its outcome). A branch that returns leaves the rest of the block to the other
        one."""
        condition = self.value(statement.test)
        known = self.known_truth(condition)
        if known is not None:
            chosen = statement.body if known else statement.orelse
            if any(map(_has_return, chosen)):
                return True, self.block([*chosen, *rest])
            self.block(chosen)
            return False, None
        test = self.operations.truth(self.scalar(condition))
        if not _has_return(statement):
            self._branches(test, statement)
            return False, None
        before = dict(self.names)
        with self.guarded(test):
            first = self.block([*statement.body, *rest])
        self.names = before
        with self.guarded(self.operations.negated(test)):
            second = self.block([*statement.orelse, *rest])
        return True, self._either(test, first, second)

    def _either(self, test: Expression, first: Returned | None, second: Returned | None) -> Returned | None:
        if first is None or second is None or first.value is None or second.value is None:
            return Returned(None)
        return Returned(self.join(test, first.value, second.value))

    def _branches(self, test: Expression, statement: ast.If) -> None:
        before = dict(self.names)
        with self.guarded(test):
            self.block(statement.body)
        after_true, self.names = self.names, dict(before)
        with self.guarded(self.operations.negated(test)):
            self.block(statement.orelse)
        after_false, self.names = self.names, {}
        for name in after_true:
            if name in after_false:
                self.names[name] = self.join(test, after_true[name], after_false[name])

    @contextmanager
    def guarded(self, condition: Expression) -> Iterator[None]:
        self.guards.append(condition)
        yield
        self.guards.pop()

    def join(self, test: Expression, true: Value, false: Value) -> Value:
        """The value of a name after a run-time `if`."""
        if true is false or (not isinstance(true, Tile | Pointer | tuple) and true == false):
            return true
        match true, false:
            case Pointer(), Pointer() if true.parameter == false.parameter and true.offset == false.offset:
                return true
            case Pointer(), Pointer() if (true.parameter, true.shape) == (false.parameter, false.shape):
                ops = self.operations
                moved = (test, ops.index(true.offset - false.offset), ops.index(number(0)))
                return replace(true, offset=false.offset + atomic(self.arena.make("select", d.index, moved)))
            case Pointer(), Pointer():
                raise NotLifted("a pointer that depends on a run-time condition", self.line)
            case tuple(), tuple() if len(true) == len(false):
                return tuple(self.join(test, left, right) for left, right in zip(true, false, strict=True))
            case Tile(), Tile() if true.value is false.value and true.dtype == false.dtype:
                return true
            case _:
                return self.operations.select(Tile(d.boolean, (), test), true, false)

    # --------------------------------------------------------------------------------------------------- expressions
    def value(self, node: ast.expr) -> Value:
        from translators.triton_source.read.expressions import evaluate

        return evaluate(self, node)

    def binary(self, operator: ast.operator, left: Value, right: Value) -> Value:
        from translators.triton_source.read.expressions import binary

        return binary(self, operator, left, right)

    def scalar(self, value: Value) -> Tile:
        tile = self.operations.tile(value)
        if tile.shape and any(extent != ONE for extent in tile.shape):
            raise NotLifted("a scalar is expected here, not a tile", self.line)
        return tile

    def known_truth(self, value: Value) -> bool | None:
        """The truth of a compile-time value; None for a run-time one."""
        match value:
            case Polynomial():
                return bool(self.known_integer(value, False))
            case Tile(value=Expression(operation="constant", attribute=found)):
                return bool(found)
            case Tile(value=Expression(operation="index", attribute=Polynomial() as found)) if (
                found.constant is not None
            ):
                return bool(found.constant)
            case Tile():
                return None
            case Pointer():
                return True  # what is not given is None
            case _:
                return bool(value)

    def known_integer(self, polynomial: Polynomial, number: bool = True) -> int:
        """A compile-time integer's value, where its value and not only its name is needed."""
        found = polynomial.constant
        if found is None:
            unknown = tuple(sorted({atom.name for atom in polynomial.atoms() if isinstance(atom, Symbol)}))
            reason = f"a branch or a shape needs the value of {', '.join(unknown)}"
            raise NeedsValue(reason, unknown, self.line, number)
        return found

    # ------------------------------------------------------------------------------------------------------- effects
    def conjunction(self, conditions: Sequence[Expression]) -> Expression:
        made = self.operations.constant(d.boolean, True)
        for condition in conditions:
            made = self.operations.logical("and", made, condition)
        return made

    def _decided(self, pointer: Pointer) -> Pointer:
        """Where the pointer goes under the conditions that hold here."""
        moved: dict[Atom, Polynomial] = {}
        for atom in pointer.offset.atoms():
            if isinstance(atom, Expression) and atom.operation == "select":
                condition, true, false = atom.arguments
                if condition in self.guards:
                    moved[atom] = true.polynomial
                elif self.operations.negated(condition) in self.guards:
                    moved[atom] = false.polynomial
        return replace(pointer, offset=pointer.offset.substitute(moved)) if moved else pointer

    def load(self, pointer: Pointer, mask: Value, other: Value) -> Tile:
        ops, pointer = self.operations, self._decided(pointer)
        valid = ops.tile(True if mask is None else mask)
        filling = None if other is None else self._as_element(pointer, other)
        if filling is None:
            filling = Tile(pointer.element, (), self.arena.make("poison", pointer.element))
        shape = ops.joint_shape(ops.shape_of(valid, filling), pointer.shape)
        pointer, valid, filling = self._of_rank(len(shape), pointer, valid, filling)
        condition = self.conjunction([ops.truth(valid), *self.guards])
        address = Address(pointer.parameter, self.clock)
        parts = (ops.index(pointer.offset), condition, filling.value)
        loaded = Tile(pointer.element, shape, self.arena.make("load", pointer.element, parts, address))
        return self.operations.same_bits(loaded, d.u8) if pointer.parameter in self.bytes else loaded

    def _as_element(self, pointer: Pointer, value: Value) -> Tile:
        """What is stored, or stands for an element, in the type of the parameter's elements."""
        if pointer.parameter not in self.bytes:
            return self.operations.cast(value, pointer.element)
        return self.operations.same_bits(self.operations.cast(value, d.u8), pointer.element)

    def _of_rank(self, rank: int, pointer: Pointer, valid: Tile, value: Tile) -> tuple[Pointer, Tile, Tile]:
        ops = self.operations
        return ops.pointer_with_rank(pointer, rank), ops.with_rank(valid, rank), ops.with_rank(value, rank)

    def tick(self) -> int:
        """The next moment: loads after it are told from loads before it."""
        self.clock += 1
        return self.clock

    def store(self, pointer: Pointer, value: Value, mask: Value, combine: str | None = None) -> None:
        ops, pointer = self.operations, self._decided(pointer)
        stored = self._as_element(pointer, value)
        valid = ops.tile(True if mask is None else mask)
        shape = ops.joint_shape(pointer.shape, ops.shape_of(stored, valid))
        pointer, valid, stored = self._of_rank(len(shape), pointer, valid, stored)
        fresh, lanes = self._fresh_lanes(shape)
        condition = ops.moved(Tile(d.boolean, shape, self.conjunction([ops.truth(valid), *self.guards])), fresh, shape)
        offset = ops.moved_pointer(pointer, fresh, shape).offset
        data = ops.moved(Tile(pointer.element, shape, ops.data(stored)), fresh, shape)
        place = (pointer.parameter, ops.index(offset), data.value, condition.value, lanes, tuple(self.loops))
        self.stores.append(StoreEffect(*place, self.tick(), self.line, combine))

    def _fresh_lanes(self, shape: Shape) -> tuple[dict[int, Polynomial], tuple[Axis, ...]]:
        mapping: dict[int, Polynomial] = {}
        lanes: list[Axis] = []
        for dimension, extent in enumerate(shape):
            if extent != ONE:
                lanes.append(self.arena.axis(f"lane{dimension}", number(0), extent))
                mapping[dimension] = atomic(lanes[-1])
        return mapping, tuple(lanes)

    def program(self, axis: int) -> Axis:
        if axis not in self.programs:
            self.programs[axis] = self.arena.axis(f"program{axis}", number(0), program_count(axis))
        return self.programs[axis]

    def remark(self, text: str) -> None:
        self.remarks.setdefault(text)


def program_count(axis: int) -> Polynomial:
    """The extent of a grid axis, until the host code says what it is."""
    return atomic(Symbol(f"programs_{axis}"))


def new_execution(file: TritonFile, effort: Effort) -> Execution:
    arena = Arena(effort)
    unbounded = atomic(Symbol("lanes"))
    lanes = Lanes(tuple(arena.axis(f"lane{i}", number(0), unbounded) for i in range(MOST_LANES)))
    return Execution(file, arena, Operations(arena, lanes))


def _has_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))
