"""Values with operators, in which an operation on encoded operands is defined the way an author would write it."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType

from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Keyword, Literal, Operand, Product, Slice
from translators.intent_source.read.rules import domains, memory, pointwise, shapes
from translators.intent_source.read.rules.reductions import without
from translators.logical.program import Block, Full, Intrinsic, Reduce, Value
from translators.logical.types import Tensor

Number = bool | int | float
Item = slice | int | None | EllipsisType


@dataclass(frozen=True, slots=True)
class Term:
    """A value under construction. Operators broadcast and take literals as the language does."""

    builder: Builder
    value: Value

    @property
    def shape(self) -> tuple[Polynomial, ...]:
        return self.value.shape

    def named(self, name: str) -> Term:
        """What the value is called where the generated code gives it a name."""
        self.builder.names.setdefault(self.value, name)
        return self

    # ------------------------------------------------------------------------------------------------------ operators
    def __add__(self, other: Term | Number) -> Term:
        return self._binary("add", other)

    def __sub__(self, other: Term | Number) -> Term:
        return self._binary("subtract", other)

    def __mul__(self, other: Term | Number) -> Term:
        return self._binary("multiply", other)

    def __rtruediv__(self, other: Number) -> Term:
        return self._emit(pointwise.binary(self.builder, "divide", Literal(other), self.value))

    def __and__(self, other: Term | Number) -> Term:
        return self._binary("and", other)

    def __or__(self, other: Term | Number) -> Term:
        return self._binary("or", other)

    def __lshift__(self, other: Term | Number) -> Term:
        return self._binary("shift_left", other)

    def __rshift__(self, other: Term | Number) -> Term:
        return self._binary("shift_right", other)

    def __mod__(self, other: Term | Number) -> Term:
        return self._binary("remainder", other)

    def __neg__(self) -> Term:
        return self._emit(pointwise.unary(self.builder, "negative", self.value))

    def __gt__(self, other: Term | Number) -> Term:
        return self._emit(pointwise.compare(self.builder, "greater", self.value, _operand(other)))

    def __lt__(self, other: Term | Number) -> Term:
        return self._emit(pointwise.compare(self.builder, "less", self.value, _operand(other)))

    def equals(self, other: Term | Number) -> Term:
        return self._emit(pointwise.compare(self.builder, "equal", self.value, _operand(other)))

    def maximum(self, other: Term | Number) -> Term:
        return self._binary("maximum", other)

    def choose(self, true: Term | Number, false: Term | Number) -> Term:
        """`true` where this condition holds, else `false`."""
        return self._emit(pointwise.select(self.builder, self.value, _operand(true), _operand(false)))

    def _binary(self, function: str, other: Term | Number) -> Term:
        return self._emit(pointwise.binary(self.builder, function, self.value, _operand(other)))

    # -------------------------------------------------------------------------------------------- dtypes, layout, sums
    def cast(self, dtype: DType) -> Term:
        return self._emit(pointwise.cast(self.builder, self.value, dtype))

    def bits(self, dtype: DType) -> Term:
        """The same bits as another dtype."""
        return self._emit(pointwise.bitcast(self.builder, self.value, dtype))

    def reshape(self, *extents: Polynomial | int) -> Term:
        wanted = tuple(number(extent) if isinstance(extent, int) else extent for extent in extents)
        return self._emit(shapes.reshaped(self.builder, self.value, wanted))

    def transpose(self, *permutation: int) -> Term:
        order = Product(tuple(map(Literal, permutation)))
        return self._emit(shapes.transpose(self.builder, self.value, order))

    def __getitem__(self, items: Item | tuple[Item, ...]) -> Term:
        given = items if isinstance(items, tuple) else (items,)
        return self._emit(memory.read(self.builder, self.value, tuple(map(_index, given))))

    def join(self, other: Term) -> Term:
        return self._emit(shapes.join(self.builder, self.value, other.value))

    def take(self, places: Term) -> Term:
        """The elements along the last axis at `places`."""
        return self._emit(memory.read(self.builder, self.value, (Keyword("..."), places.value)))

    def sum(self, *axes: int, ordered: bool = False) -> Term:
        return self._reduce("sum", axes, ordered)

    def max(self, *axes: int) -> Term:
        return self._reduce("max", axes)

    def tensor(self) -> Term:
        """A scalar as a rank-zero tensor."""
        return self._emit(self.builder.one(Full(self.value), Tensor(self.value.dtype, ())))

    def _reduce(self, kind: str, axes: tuple[int, ...], ordered: bool = False) -> Term:
        reduced = tuple(sorted(axis % len(self.shape) for axis in axes))
        op = Reduce(kind, (self.value,), reduced, ordered=ordered)
        return self._emit(self.builder.one(op, without(self.value, reduced)))

    def _emit(self, made: Operand) -> Term:
        assert isinstance(made, Value)
        return Term(self.builder, made)


def _operand(given: Term | Number) -> Operand:
    return given.value if isinstance(given, Term) else Literal(given)


def _index(item: Item) -> Operand:
    match item:
        case None:
            return Keyword("None")
        case EllipsisType():
            return Keyword("...")
        case slice(start=start, stop=stop):
            return Slice(_bound(start), _bound(stop), None)
        case int():
            return Literal(item)


def _bound(given: int | None) -> Operand | None:
    return None if given is None else Literal(given)


def positions(builder: Builder, count: int, dtype: DType) -> Term:
    """0, 1, ... count - 1."""
    along = domains.domain(builder, Literal(0), Literal(count), Literal(1))
    made = domains.indices(builder, along)
    assert isinstance(made, Value)
    return Term(builder, made).cast(dtype)


def define(
    builder: Builder,
    name: str,
    arguments: tuple[Value, ...],
    attributes: tuple[tuple[str, object], ...],
    definition: Callable[[], Term],
    rounded: bool = False,
) -> Value:
    """Emit an intrinsic with what `definition` makes of ordinary operations; `rounded` if products are rounded."""
    with builder.block() as statements:
        result = definition().value
    op = Intrinsic(name, arguments, attributes, Block(tuple(statements)), result, rounded)
    return builder.one(op, result.type)
