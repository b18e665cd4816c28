"""Arithmetic on tiles: Triton's promotion rules, broadcasting, and integers as polynomials where they are coordinates.

A coordinate is an integer made of program ids, loop ordinals, lanes, sizes and constants; it is held as a polynomial,
on the assumption that address arithmetic does not wrap. Integers read from memory are data: they keep their
operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, replace
from translators.algebra.facts import Facts
from translators.algebra.polynomial import (
    Atom,
    Polynomial,
    Quotient,
    Remainder,
    Symbol,
    atomic,
    floor_divide,
    maximum,
    minimum,
    number,
    remainder,
)
from translators.tile.expression import Arena, Axis, Expression, LoopToken
from translators.tile.substitution import Rebuilding, as_index
from translators.triton_source.read.reshapes import Reshaping, facts_of_lanes
from translators.triton_source.read.values import (
    HoldsIntegers,
    HoldsType,
    Lanes,
    NeedsValue,
    NotLifted,
    Pointer,
    Shape,
    Tile,
    Value,
)

ONE = number(1)
COMPARISONS = {"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply"}
_ROUNDED = {"floor_divide": "//", "remainder": "%"}
BITWISE = {"&": "and", "|": "or", "^": "xor"}
_KINDS = {"bool": 0, "unsigned": 1, "signed": 1, "index": 1, "float": 2}


@dataclass(slots=True)
class Operations:
    """Builds tiles in one arena. A dimension of extent 1 never has a lane in the value, so that it broadcasts for
    free."""

    arena: Arena
    lanes: Lanes

    # ------------------------------------------------------------------------------------------------- making tiles
    def pointwise(self, function: str, dtype: DType, *arguments: Expression) -> Expression:
        return self.arena.make("pointwise", dtype, arguments, (function, False, False))

    def constant(self, dtype: DType, value: bool | int | float) -> Expression:
        if dtype == d.index:
            return self.index(number(int(value)))
        kept = bool(value) if dtype == d.boolean else float(value) if dtype.is_float else _wrapped(int(value), dtype)
        return self.arena.make("constant", dtype, (), kept)

    def index(self, polynomial: Polynomial) -> Expression:
        return as_index(self.arena, polynomial)

    def integer(self, polynomial: Polynomial | int, shape: Shape = (), dtype: DType = d.i32) -> Tile:
        made = polynomial if isinstance(polynomial, Polynomial) else number(polynomial)
        return Tile(dtype, shape, self.index(made))

    def tile(self, value: Value) -> Tile:
        """A run-time tile of a compile-time value."""
        match value:
            case Tile():
                return value
            case bool():
                return Tile(d.boolean, (), self.constant(d.boolean, value))
            case int():
                return self.integer(value, (), _type_of_literal(value))
            case float():
                return Tile(d.f32, (), self.constant(d.f32, value))
            case Polynomial():
                return self.integer(value)
            case _:
                raise NotLifted(f"a number is expected here, not {value!r}")

    def data(self, tile: Tile) -> Expression:
        """The value as a number of the tile's own type, for use outside address arithmetic."""
        if tile.value.dtype == tile.dtype:
            return tile.value
        return self.converted(tile.value, tile.dtype)

    def converted(self, value: Expression, dtype: DType) -> Expression:
        if value.dtype == dtype:
            return value
        known = value.attribute.constant if value.operation == "index" else None
        if known is not None:
            return self.constant(dtype, known)
        if value.operation == "contract" and value.dtype.bits < dtype.bits and dtype.is_float:
            return self.arena.make("contract", dtype, value.arguments, value.attribute)  # sums in the wider type
        exact = not dtype.is_float or dtype.bits >= 32 or _exact_in_any(value.attribute)
        if value.operation == "constant" and exact and not (value.dtype.is_float and dtype.is_integer):
            return self.constant(dtype, value.attribute)
        return self.arena.make("cast", dtype, (value,))

    # ------------------------------------------------------------------------------------------------------- shapes
    def moved(self, tile: Tile, mapping: Mapping[int, Polynomial], shape: Shape) -> Tile:
        """The tile at other coordinates: lane i becomes mapping[i]."""
        atoms: dict[Atom, Polynomial] = {self.lanes[old]: new for old, new in mapping.items()}
        return Tile(tile.dtype, shape, self._reshaping(atoms, shape).expression(tile.value))

    def moved_pointer(self, pointer: Pointer, mapping: Mapping[int, Polynomial], shape: Shape) -> Pointer:
        atoms: dict[Atom, Polynomial] = {self.lanes[old]: new for old, new in mapping.items()}
        return replace(pointer, shape=shape, offset=self._reshaping(atoms, shape).polynomial(pointer.offset))

    def _reshaping(self, atoms: Mapping[Atom, Polynomial], shape: Shape) -> Rebuilding:
        """Lanes that only move leave coordinates as they are."""
        if all(isinstance(each.atom, Axis) or each.constant is not None for each in atoms.values()):
            return Rebuilding(self.arena, atoms)
        return Reshaping(self.arena, atoms, facts=facts_of_lanes(self.lanes, shape))

    def reshaped(self, value: Value, mapping: Mapping[int, Polynomial], shape: Shape) -> Tile | Pointer:
        if isinstance(value, Pointer):
            return self.moved_pointer(value, mapping, shape)
        return self.moved(self.tile(value), mapping, shape)

    def with_rank(self, tile: Tile, rank: int) -> Tile:
        missing = rank - len(tile.shape)
        if missing <= 0 or not tile.shape:
            return replace(tile, shape=(ONE,) * max(missing, 0) + tile.shape)
        mapping = {old: atomic(self.lanes[old + missing]) for old in range(len(tile.shape))}
        return self.moved(tile, mapping, (ONE,) * missing + tile.shape)

    def pointer_with_rank(self, pointer: Pointer, rank: int) -> Pointer:
        missing = rank - len(pointer.shape)
        mapping = {old: atomic(self.lanes[old + missing]) for old in range(len(pointer.shape))}
        return self.moved_pointer(pointer, mapping, (ONE,) * missing + pointer.shape) if missing > 0 else pointer

    def joint_shape(self, first: Shape, second: Shape) -> Shape:
        rank = max(len(first), len(second))
        left, right = ((ONE,) * (rank - len(shape)) + shape for shape in (first, second))
        return tuple(map(self._joint_extent, left, right))

    def _joint_extent(self, first: Polynomial, second: Polynomial) -> Polynomial:
        if first == second or second == ONE:
            return first
        if first == ONE:
            return second
        reason = f"tiles of {first} and {second} lanes cannot be combined"
        names = sorted({atom.name for each in (first, second) for atom in each.atoms() if isinstance(atom, Symbol)})
        if names:
            raise NeedsValue(reason, tuple(names), number=True)
        raise NotLifted(reason)

    def aligned(self, *tiles: Tile) -> tuple[Tile, ...]:
        """The tiles at one rank; each keeps its own extents, which broadcast."""
        rank = max(len(tile.shape) for tile in tiles)
        return tuple(self.with_rank(tile, rank) for tile in tiles)

    def shape_of(self, *tiles: Tile) -> Shape:
        shape: Shape = ()
        for tile in tiles:
            shape = self.joint_shape(shape, tile.shape)
        return shape

    # --------------------------------------------------------------------------------------------------- conversions
    def cast(self, value: Value, dtype: DType) -> Tile:
        tile = self.tile(value)
        if tile.dtype == dtype:
            return tile
        if tile.value.dtype == d.index and dtype in (d.i32, d.i64):
            return replace(tile, dtype=dtype)
        if tile.value.dtype == d.index and dtype in (d.u32, d.u64) and nonnegative(tile.value.polynomial):
            return replace(tile, dtype=dtype)
        return Tile(dtype, tile.shape, self.converted(self.data(tile), dtype))

    def same_bits(self, tile: Tile, dtype: DType) -> Tile:
        """The number of another type, of as many bits, that is written the same."""
        data = self.data(tile)
        if data.operation == "bitcast" and data.arguments[0].dtype == dtype:
            return Tile(dtype, tile.shape, data.arguments[0])
        return Tile(dtype, tile.shape, self.arena.make("bitcast", dtype, (data,)))

    def promoted(self, left: Value, right: Value, division: bool = False) -> DType:
        """The type that Triton computes in: a compile-time number takes the other operand's type if its kind allows."""
        first, second = self.tile(left).dtype, self.tile(right).dtype
        known_left, known_right = not isinstance(left, Tile), not isinstance(right, Tile)
        if known_left != known_right:
            literal, other = (first, second) if known_left else (second, first)
            if _KINDS[literal.kind] <= _KINDS[other.kind]:
                return d.f32 if division and other in (d.f16, d.bf16) else other
        return _common_type(first, second, division)

    # ---------------------------------------------------------------------------------------------------- operators
    def binary(self, operator: str, left: Value, right: Value) -> Value:
        if isinstance(left, Pointer) or isinstance(right, Pointer):
            return self._address(operator, left, right)
        if operator in COMPARISONS:
            return self.compare(operator, left, right)
        if operator == "/":
            return self.divided(left, right)
        first, second = self.aligned(self.tile(left), self.tile(right))
        dtype = self.promoted(left, right, operator in ("//", "%"))
        if dtype.is_float and operator in ("//", "%", "&", "|", "^", "<<", ">>"):
            for tile in (first, second):
                expect_integers(tile)
            raise NotLifted(f"'{operator}' of floats")
        if self._coordinates(first, second):
            made = self._coordinate_operation(operator, first, second, dtype)
            if made is not None:
                return made
        return self._data_operation(operator, first, second, dtype)

    def _coordinates(self, *tiles: Tile) -> bool:
        return all(tile.value.dtype == d.index for tile in tiles)

    def _coordinate_operation(self, operator: str, first: Tile, second: Tile, dtype: DType) -> Tile | None:
        left, right = first.value.polynomial, second.value.polynomial
        made = self._coordinate(operator, left, right)
        if operator == "&":
            made = _low_bits(left, right, dtype) or _low_bits(right, left, dtype)
        if made is None or (dtype.kind == "unsigned" and operator == "-" and not nonnegative(made)):
            return None
        return Tile(dtype, self.joint_shape(first.shape, second.shape), self.index(made))

    def _coordinate(self, operator: str, left: Polynomial, right: Polynomial) -> Polynomial | None:
        match operator:
            case "+" | "-" | "*":
                return left + right if operator == "+" else left - right if operator == "-" else left * right
            case "//":
                return self.truncated(left, right)
            case "%":
                return self.truncated_remainder(left, right)
            case "<<" if right.constant is not None and 0 <= right.constant < 63:
                return left * (1 << right.constant)
            case ">>" if right.constant is not None and 0 <= right.constant < 63:
                return floor_divide(left, number(1 << right.constant))
            case _:
                return None

    def truncated(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Triton's `//`, which rounds to zero: floor division where nothing is negative."""
        if self.nonnegative(left) and self.nonnegative(right):
            return floor_divide(left, right)
        return atomic(self.pointwise("truncated_divide", d.index, self.index(left), self.index(right)))

    def truncated_remainder(self, left: Polynomial, right: Polynomial) -> Polynomial:
        if self.nonnegative(left) and self.nonnegative(right):
            return remainder(left, right)
        return left - right * self.truncated(left, right)

    def nonnegative(self, polynomial: Polynomial) -> bool:
        return nonnegative(polynomial)

    def _data_operation(self, operator: str, first: Tile, second: Tile, dtype: DType) -> Tile:
        shape = self.joint_shape(first.shape, second.shape)
        left, right = (self.converted(self.data(tile), dtype) for tile in (first, second))
        if dtype == d.boolean:
            bitwise = "&" if operator == "*" else operator  # a product of single bits
            if bitwise not in BITWISE:
                raise NotLifted(f"'{operator}' of booleans")
            return Tile(dtype, shape, self.logical(BITWISE[bitwise], left, right))
        if operator == "*" and dtype.is_integer:
            zero = next((each for each in (left, right) if each.operation == "constant" and not each.attribute), None)
            if zero is not None:
                return Tile(dtype, shape, zero)
        infinite = _infinite(operator, left, right)
        if infinite is not None:
            return Tile(dtype, shape, self.constant(dtype, infinite))
        match operator:
            case "+" | "-" | "*":
                function = ARITHMETIC[operator]
            case "&" | "|" | "^":
                function = BITWISE[operator]
            case "<<":
                function = "shift_left"
            case ">>":
                function = "shift_right"
            case "//" | "%" if dtype.is_signed:
                return Tile(dtype, shape, self._truncating(operator, dtype, left, right))
            case "//" | "%":
                function = "floor_divide" if operator == "//" else "remainder"
            case _:
                raise NotLifted(f"operator '{operator}'")
        return Tile(dtype, shape, self.pointwise(function, dtype, left, right))

    def _truncating(self, operator: str, dtype: DType, left: Expression, right: Expression) -> Expression:
        """Division that rounds to zero, by one that rounds down: it is one less where signs differ, unless exact."""
        zero = self.constant(dtype, 0)
        rest = self.pointwise("remainder", dtype, left, right)
        signs = [self.pointwise("less", d.boolean, each, zero) for each in (left, right)]
        differ = signs[0] if right.operation == "constant" and right.attribute > 0 else self.logical("xor", *signs)
        inexact = self.pointwise("not_equal", d.boolean, rest, zero)
        apart = self.logical("and", inexact, differ)
        if operator == "%":
            return self.arena.make("select", dtype, (apart, self.pointwise("subtract", dtype, rest, right), rest))
        below = self.pointwise("floor_divide", dtype, left, right)
        above = self.pointwise("add", dtype, below, self.constant(dtype, 1))
        return self.arena.make("select", dtype, (apart, above, below))

    def rounded_down(self, operator: str, left: Value, right: Value) -> Tile:
        """A quotient of integers that is rounded down, or what it leaves."""
        first, second = self.aligned(self.tile(left), self.tile(right))
        dtype, shape = self.promoted(left, right, True), self.joint_shape(first.shape, second.shape)
        if self._coordinates(first, second):
            rounded = floor_divide if operator == "//" else remainder
            return Tile(dtype, shape, self.index(rounded(first.value.polynomial, second.value.polynomial)))
        function = "floor_divide" if operator == "//" else "remainder"
        operands = (self.converted(self.data(tile), dtype) for tile in (first, second))
        return Tile(dtype, shape, self.pointwise(function, dtype, *operands))

    def divided(self, left: Value, right: Value) -> Tile:
        first, second = self.aligned(self.tile(left), self.tile(right))
        dtype = self.promoted(left, right, True)
        if not dtype.is_float:
            dtype = d.f32
        operands = (self.converted(self.data(tile), dtype) for tile in (first, second))
        return Tile(dtype, self.joint_shape(first.shape, second.shape), self.pointwise("divide", dtype, *operands))

    def logical(self, function: str, left: Expression, right: Expression) -> Expression:
        for known, other in ((left, right), (right, left)):
            if known.operation == "constant" and function in ("and", "or"):
                absorbing = function == "or"
                return known if known.attribute is absorbing else other
        return left if left is right and function != "xor" else self.pointwise(function, d.boolean, left, right)

    def negated(self, condition: Expression) -> Expression:
        if condition.operation == "constant":
            return self.constant(d.boolean, not condition.attribute)
        return self.pointwise("not", d.boolean, condition)

    # --------------------------------------------------------------------------------------------------- comparisons
    def compare(self, operator: str, left: Value, right: Value) -> Tile:
        first, second = self.aligned(self.tile(left), self.tile(right))
        shape = self.joint_shape(first.shape, second.shape)
        dtype = self.promoted(left, right)
        if dtype.is_float or dtype == d.boolean:
            operands = (self.converted(self.data(tile), dtype) for tile in (first, second))
            return Tile(d.boolean, shape, self.pointwise(COMPARISONS[operator], d.boolean, *operands))
        difference = first.value.polynomial - second.value.polynomial
        return Tile(d.boolean, shape, self.compared(operator, difference))

    def compared(self, operator: str, difference: Polynomial) -> Expression:
        """difference (operator) 0, kept as `< 0`, `== 0` or `!= 0`."""
        match operator:
            case "<":
                return self.below_zero(difference)
            case "<=":
                return self.below_zero(difference - 1)
            case ">":
                return self.below_zero(-difference)
            case ">=":
                return self.below_zero(-difference - 1)
            case _:
                return self._equality(COMPARISONS[operator], difference)

    def below_zero(self, difference: Polynomial) -> Expression:
        known = difference.constant
        if known is not None:
            return self.constant(d.boolean, known < 0)
        return self.pointwise("less", d.boolean, self.index(difference), self.index(number(0)))

    def _equality(self, function: str, difference: Polynomial) -> Expression:
        known = difference.constant
        if known is not None:
            return self.constant(d.boolean, (known == 0) == (function == "equal"))
        leading = difference.terms[-1][1]
        signed = difference if leading > 0 else -difference
        return self.pointwise(function, d.boolean, self.index(signed), self.index(number(0)))

    # ----------------------------------------------------------------------------------------- pointers, selections
    def _address(self, operator: str, left: Value, right: Value) -> Pointer:
        if operator == "+" and isinstance(right, Pointer) and not isinstance(left, Pointer):
            left, right = right, left
        if operator not in "+-" or not isinstance(left, Pointer) or isinstance(right, Pointer):
            raise NotLifted(f"'{operator}' of a pointer")
        distance = self.tile(right)
        rank = max(len(left.shape), len(distance.shape))
        pointer, tile = self.pointer_with_rank(left, rank), self.with_rank(distance, rank)
        moved = self.offset(tile)
        offset = pointer.offset + moved if operator == "+" else pointer.offset - moved
        return replace(pointer, shape=self.joint_shape(pointer.shape, tile.shape), offset=offset)

    def offset(self, tile: Tile) -> Polynomial:
        """An integer as part of an address; sums and products of data are followed, as they do not wrap there."""
        if not tile.dtype.is_integer:
            expect_integers(tile)
            raise NotLifted("an address is moved by a number that is no integer")
        return self.distance(tile.value)

    def distance(self, value: Expression) -> Polynomial:
        match value.operation, value.arguments:
            case "pointwise", (left, right) if value.attribute[0] in ARITHMETIC.values():
                first, second = self.distance(left), self.distance(right)
                return {"add": first + second, "subtract": first - second, "multiply": first * second}[
                    value.attribute[0]
                ]
            case "cast", (inner,) if inner.dtype.is_integer and value.dtype.bits >= 32:
                return self.distance(inner)
            case "constant", _:
                return number(int(value.attribute))
            case "select", (_, _, Expression(operation="pointwise", arguments=(left, right), attribute=rounding)) if (
                rounding[0] in _ROUNDED and self._truncating(_ROUNDED[rounding[0]], value.dtype, left, right) is value
            ):
                quotient = rounding[0] == "floor_divide"
                truncated = self.truncated if quotient else self.truncated_remainder
                return truncated(self.distance(left), self.distance(right))
            case _:
                return value.polynomial

    def select(self, condition: Value, true: Value, false: Value) -> Tile:
        dtype = self.promoted(true, false)
        chosen, first, second = self.aligned(self.tile(condition), self.tile(true), self.tile(false))
        shape = self.shape_of(chosen, first, second)
        test = self.truth(chosen)
        if self._coordinates(first, second) and first.value is second.value:
            return Tile(dtype, shape, first.value)
        parts = tuple(self.converted(self.data(tile), dtype) for tile in (first, second))
        if test.operation == "constant":
            return Tile(dtype, shape, parts[0] if test.attribute else parts[1])
        if parts[0] is parts[1]:
            return Tile(dtype, shape, parts[0])
        return Tile(dtype, shape, self.arena.make("select", dtype, (test, *parts)))

    def truth(self, tile: Tile) -> Expression:
        if tile.dtype == d.boolean:
            return tile.value
        if tile.dtype.is_float:
            return self.pointwise("not_equal", d.boolean, tile.value, self.constant(tile.dtype, 0))
        return self.compared("!=", tile.value.polynomial)

    def extremum(self, kind: str, left: Value, right: Value, propagate: bool = False) -> Tile:
        """tl.minimum and tl.maximum: of floats, a NaN on one side is ignored unless it is asked for."""
        first, second = self.aligned(self.tile(left), self.tile(right))
        dtype = self.promoted(left, right)
        shape = self.joint_shape(first.shape, second.shape)
        if not dtype.is_float and self._coordinates(first, second):
            choose = minimum if kind == "minimum" else maximum
            return Tile(dtype, shape, self.index(choose(first.value.polynomial, second.value.polynomial)))
        parts = (self.converted(self.data(tile), dtype) for tile in (first, second))
        function = kind if propagate or not dtype.is_float else f"{kind}_num"
        return Tile(dtype, shape, self.pointwise(function, dtype, *parts))


def nonnegative(polynomial: Polynomial) -> bool:
    """With what every reading knows: lanes, program ids and iterations are counted from 0, sizes are not negative, and
    what divides is not 0."""
    facts = Facts()
    for atom in polynomial.atoms():
        if isinstance(atom, Axis):
            facts = facts.with_bounds(atom, low=atom.begin)
        elif isinstance(atom, LoopToken):
            facts = facts.with_bounds(atom, low=0)
        elif isinstance(atom, Quotient | Remainder) and len(atom.denominator.terms) == 1:
            for factor in atom.denominator.terms[0][0]:
                if isinstance(factor, Symbol):
                    facts = facts.with_bounds(factor, low=1)
    return facts.nonnegative(polynomial)


def _low_bits(value: Polynomial, mask: Polynomial, dtype: DType) -> Polynomial | None:
    """value & (2**k - 1), which is what is left of it below 2**k."""
    known = mask.constant
    if known is None or known < 0 or known & (known + 1):
        return None
    divisor = value.atom.denominator.constant if isinstance(value.atom, Quotient) else 1
    largest = ((1 << (dtype.bits - dtype.is_signed)) - 1) // (divisor or 1)
    if known >= largest:
        return value if nonnegative(value) else None
    return remainder(value, number(known + 1))


def _exact_in_any(value: object) -> bool:
    """Whether every float type holds the number."""
    return value in (0, 1, -1, 2, float("inf"), float("-inf"))


def expect_integers(tile: Tile) -> None:
    """What is read from memory into a float holds integers after all, if that is what it is used as."""
    for node in _summands(tile.value):
        if node.operation == "load" and node.dtype.is_float:
            raise HoldsIntegers(node.attribute.pointer)


def expect_integer_products(tile: Tile) -> None:
    """What an integer accumulates are products of integers: Triton multiplies matrices of eight bits for that."""
    for node in _summands(tile.value):
        for factor in node.arguments if node.operation == "contract" else ():
            if factor.operation == "load" and factor.dtype.is_float:
                raise HoldsType(factor.attribute.pointer, d.i8, "an integer that accumulates products of floats")


def _summands(value: Expression) -> Iterator[Expression]:
    """What sums, products, casts, selections and extrema are made of."""
    extrema = ("minimum", "maximum", "minimum_num", "maximum_num")
    if value.operation == "select":
        parts = value.arguments[1:]
    elif value.operation == "cast" or (
        value.operation == "pointwise" and value.attribute[0] in (*ARITHMETIC.values(), *extrema)
    ):
        parts = value.arguments
    elif value.operation == "load":
        parts = tuple(each for each in value.arguments[2:] if each.operation != "poison")
        yield value
    else:
        parts = ()
        yield value
    for part in parts:
        yield from _summands(part)


def _wrapped(value: int, dtype: DType) -> int:
    """An integer modulo 2**bits, within the range of its type."""
    rest = value % (1 << dtype.bits)
    return rest - (1 << dtype.bits) if dtype.is_signed and rest >> (dtype.bits - 1) else rest


def _type_of_literal(value: int) -> DType:
    """The type of a Python integer that no other operand gives a type."""
    if -(2**31) <= value < 2**32:
        return d.i32 if value < 2**31 else d.u32
    return d.i64 if value < 2**63 else d.u64


def _common_type(first: DType, second: DType, division: bool) -> DType:
    for wide in (d.f64, d.f32):
        if wide in (first, second):
            return wide
    if d.f16 in (first, second):
        return d.f32 if division else d.f16
    if d.bf16 in (first, second):
        return d.f32 if division or first != second else d.bf16
    if first.is_float or second.is_float:
        if first == second:
            return first
        raise NotLifted(f"an operation on {first.name} and {second.name}")
    return _common_integer(first, second)


def _common_integer(first: DType, second: DType) -> DType:
    if d.boolean in (first, second):
        return second if first == d.boolean else first
    if first.is_signed == second.is_signed:
        return first if first.bits > second.bits else second
    unsigned, signed = (second, first) if first.is_signed else (first, second)
    return unsigned if unsigned.bits >= signed.bits else signed


def _infinite(operator: str, left: Expression, right: Expression) -> float | None:
    """The sum or difference of two numbers, if it is infinite: `tl.zeros(...) - float("inf")`."""
    if operator not in ("+", "-") or not left.operation == right.operation == "constant" or not left.dtype.is_float:
        return None
    made = float(left.attribute + right.attribute if operator == "+" else left.attribute - right.attribute)
    return made if math.isinf(made) and math.inf in (abs(left.attribute), abs(right.attribute)) else None
