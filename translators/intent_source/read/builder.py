"""Where reading puts what it finds: the block under construction, serial numbers, diagnostics.

The syntax walker owns the control structure and the names; the typing rules own what an expression means. Both talk to
one `Builder`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn, Protocol

from intent.dtypes import DType, index
from intent.records import dataclass, field
from translators.algebra.polynomial import Polynomial, atomic
from translators.diagnostics import NOWHERE, Diagnostic, Fix, Rejected, Span
from translators.intent_source.read.operands import Function, IntrinsicName, Operand
from translators.logical import program
from translators.logical.coordinates import polynomial
from translators.logical.program import Block, Let, Op, Statement, Value
from translators.logical.types import Scalar, Type


class Tracer(Protocol):
    """What the typing rules need from the walker: applying a helper."""

    def call(self, function: Function, arguments: Sequence[Operand], span: Span) -> Operand:
        """Inline the helper at the current place; positional arguments; gives its result (Keyword("None") if none)."""
        ...


@dataclass(slots=True)
class Builder:
    """Mutable while one kernel is read; everything it produces is immutable."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    tracer: Tracer | None = None
    span: Span = NOWHERE  # of the construct being read; the walker keeps it current
    places: Mapping[str, Span] = field(default_factory=dict)  # of the call's arguments, by parameter
    statements: list[Statement] = field(default_factory=list)
    pure: str | None = None  # inside a structured operation's helper: its name, and effects are errors
    target: str | None = None  # the name that the statement being read binds: a buffer made by it is called so
    names: dict[Value, str] = field(default_factory=dict)  # the last name bound to each value
    symbols: frozenset[str] = frozenset()  # the extents that the kernel's parameters name; empty = not known
    ragged_rows: dict[object, tuple[list[Statement], Operand]] = field(default_factory=dict)
    indices: dict[Value, tuple[list[Statement], Value]] = field(default_factory=dict)  # scalars as bounds, by block
    enclosing: list[list[Statement]] = field(default_factory=list)  # the open blocks around `statements`
    _serial: int = 0
    _polynomials: dict[Value, Polynomial] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------ values
    def serial(self) -> int:
        self._serial += 1
        return self._serial

    def value(self, op: Op, type: Type, position: int = 0) -> Value:
        """A value whose statement the caller emits itself (block parameters, carries, merges)."""
        return Value(type, op, position, self.serial(), self.span)

    def emit(self, op: Op, *types: Type) -> tuple[Value, ...]:
        """Append `Let(op)` and give its results."""
        results = tuple(self.value(op, type, position) for position, type in enumerate(types))
        self.statements.append(Let(op, results, self.span))
        return results

    def one(self, op: Op, type: Type) -> Value:
        return self.emit(op, type)[0]

    def constant(self, value: bool | int | float, dtype: DType) -> Value:
        return self.one(program.Constant(value), Scalar(dtype))

    def size(self, extent: Polynomial) -> Value:
        return self.one(program.Size(extent), Scalar(index))

    def polynomial(self, value: Value) -> Polynomial:
        """An index scalar as a polynomial, worked out once."""
        return polynomial(value, self._polynomials)

    def fresh_extent(self) -> Polynomial:
        """An extent equal to no other: the slice length of a region operation."""
        return atomic(self.value(program.BlockParameter(), Scalar(index)))

    def statement(self, statement: Statement) -> None:
        self.statements.append(statement)

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Collect the statements of a nested block; use `Block(tuple(collected))` after leaving it."""
        outer, self.statements = self.statements, []
        self.enclosing.append(outer)
        try:
            yield self.statements
        finally:
            self.statements = self.enclosing.pop()

    def is_open(self, block: list[Statement]) -> bool:
        """Whether what `block` defines is defined here: it is the current block or one around it."""
        return any(block is other for other in (self.statements, *self.enclosing))

    # -------------------------------------------------------------------------------------------- diagnostics
    def reject(
        self, code: str, message: str, help: str | None = None, fix: Fix | None = None, at: str | None = None
    ) -> NoReturn:
        """The construct at `self.span` breaks the language; of a call, its argument for the parameter `at`."""
        raise Rejected(Diagnostic(code, "error", message, self.places.get(at or "", self.span), help, fix))

    def note(self, code: str, message: str, help: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(code, "note", message, self.span, help))

    @contextmanager
    def at(self, span: Span) -> Iterator[None]:
        outer, self.span = self.span, span
        try:
            yield
        finally:
            self.span = outer

    @contextmanager
    def call(self, places: Mapping[str, Span]) -> Iterator[None]:
        """What follows is about a call whose arguments stand at `places`."""
        outer, self.places = self.places, places
        try:
            yield
        finally:
            self.places = outer

    # ------------------------------------------------------------------------------------------------- helpers
    def trace(
        self, function: Function | IntrinsicName, parameters: Sequence[Operand], purpose: str
    ) -> tuple[Block, Operand]:
        """Apply a pure helper to `parameters` in a block of its own: (its statements, its result)."""
        outer, self.pure = self.pure, purpose
        try:
            with self.block() as statements:
                result = self.apply(function, parameters)
            return Block(tuple(statements)), result
        finally:
            self.pure = outer

    def apply(self, function: Function | IntrinsicName, arguments: Sequence[Operand]) -> Operand:
        """Call a helper, or an intrinsic passed as a function (`combine=I.add`), with positional arguments."""
        from translators.intent_source.read.rules import call_intrinsic

        if isinstance(function, IntrinsicName):
            return call_intrinsic(self, function.path, tuple(arguments), {})
        assert self.tracer is not None
        return self.tracer.call(function, arguments, self.span)
