"""Operators and elementwise functions: dtypes, broadcasting, folding of what is known while reading."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from typing import Final, NoReturn

from intent import dtypes
from intent.dtypes import DType
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import EnumMember, Keyword, Literal, Operand, Text
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe
from translators.intent_source.read.rules.literals import (
    Number,
    as_value,
    cast_literal,
    default_dtype,
    instantiate,
    static_number,
)
from translators.intent_source.read.rules.shapes import broadcast, like, result_type
from translators.logical.program import Bitcast, Cast, Constant, Full, Let, Pointwise, Select, Value

SYMBOLS: Final = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "power": "**",
    "and": "&", "or": "|", "xor": "^", "shift_left": "<<", "shift_right": ">>",
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "negative": "-", "positive": "+", "invert": "~", "not": "not",
}  # fmt: skip

_FOLDS: Final[dict[str, Callable[[Number, Number], Number]]] = {
    "add": python.add, "subtract": python.sub, "multiply": python.mul, "divide": python.truediv,
    "floor_divide": python.floordiv, "remainder": python.mod, "power": python.pow,
    "maximum": max, "minimum": min, "maximum_num": max, "minimum_num": min,
}  # fmt: skip
_INTEGER_FOLDS: Final[dict[str, Callable[[int, int], int]]] = {
    "and": python.and_, "or": python.or_, "xor": python.xor,
    "shift_left": python.lshift, "shift_right": python.rshift,
}  # fmt: skip
_COMPARISONS: Final[dict[str, Callable[[Number, Number], bool]]] = {
    "equal": python.eq, "not_equal": python.ne, "less": python.lt,
    "less_equal": python.le, "greater": python.gt, "greater_equal": python.ge,
}  # fmt: skip

_FLOAT_ONLY = ("divide",)
_INTEGER_ONLY = ("floor_divide", "remainder", "shift_left", "shift_right")
_FLOAT_FORMS: Final = {"floor_divide": "write I.floor(a / b)", "remainder": "write a - I.floor(a / b) * b"}
_BITS = ("and", "or", "xor")
_LARGEST_FOLD = 4096  # bits of a folded integer: far beyond any dtype


def spelled(function: str) -> str:
    return f"`{SYMBOLS[function]}`" if function in SYMBOLS else f"I.{function}"


# ---------------------------------------------------------------------------------------------------------- operators
def binary(builder: Builder, operator: str, lhs: Operand, rhs: Operand) -> Operand:
    """An arithmetic operator, or a two-operand elementwise function."""
    a, b = static_number(lhs), static_number(rhs)
    if a is not None and b is not None:
        return Literal(_fold(builder, operator, a, b))
    left, right = together(builder, lhs, rhs, spelled(operator))
    _check_operands(builder, operator, left.dtype)
    _check_right(builder, operator, right)
    return pointwise(builder, operator, (left, right), left.dtype)


def _check_right(builder: Builder, operator: str, right: Value) -> None:
    """A shift amount, divisor or exponent of integers that is known, the same number for all elements, is legal."""
    known = right.origin.fill if isinstance(right.origin, Full) else right
    if not isinstance(known.origin, Constant):
        return
    number, dtype = known.origin.value, right.dtype
    if operator in ("shift_left", "shift_right") and not 0 <= number < dtype.bits:
        message = f"{dtype.name} cannot be shifted by {number}: its width is {dtype.bits}"
        builder.reject(codes.SHIFT_AMOUNT, message)
    if operator in ("floor_divide", "remainder") and number == 0:
        builder.reject(codes.DIVISION_BY_ZERO, f"{spelled(operator)} divides {dtype.name} by 0")
    if operator == "power" and number < 0 and dtype.is_integer:
        help = "cast both to a float dtype"
        builder.reject(codes.NEGATIVE_POWER, f"{dtype.name} cannot be raised to the power of {number}", help)


def together(builder: Builder, lhs: Operand, rhs: Operand, what: str) -> tuple[Value, Value]:
    """Both operands as values of one dtype; a literal takes the other's."""
    if not isinstance(lhs, Value) and isinstance(rhs, Value):
        return as_value(builder, lhs, rhs.dtype), rhs
    left = as_value(builder, lhs)
    right = as_value(builder, rhs, None if isinstance(rhs, Value) else left.dtype)
    if left.dtype != right.dtype:
        reject_mixed(builder, left.dtype, right.dtype, what)
    return left, right


def reject_mixed(builder: Builder, left: DType, right: DType, what: str) -> NoReturn:
    code = codes.INDEX_MIXED if dtypes.index in (left, right) else codes.DTYPES_DIFFER
    message = f"{what} mixes {left.name} and {right.name}"
    builder.reject(code, message, f"cast one of them: I.cast(..., {_cast_target(left, right)!r})")


def _cast_target(left: DType, right: DType) -> DType:
    """The dtype that most likely is meant: a float beside an integer, index beside another integer, else the wider."""
    if left.is_float != right.is_float:
        return left if left.is_float else right
    if dtypes.index in (left, right):
        return dtypes.index
    return max(left, right, key=lambda dtype: dtype.bits)


def _check_operands(builder: Builder, function: str, dtype: DType) -> None:
    if function in _FLOAT_ONLY and not dtype.is_float:
        message = f"`/` divides floats, and these are {dtype.name}"
        builder.reject(codes.OPERATOR_DTYPE, message, "write `//` for integers, or cast both to a float dtype")
    if function in _INTEGER_ONLY and not dtype.is_integer:
        message = f"{spelled(function)} takes integers, and these are {dtype.name}"
        builder.reject(codes.OPERATOR_DTYPE, message, _FLOAT_FORMS.get(function) if dtype.is_float else None)
    if function in _BITS and dtype.is_float:
        builder.reject(codes.OPERATOR_DTYPE, f"{spelled(function)} takes bools or integers, not {dtype.name}")
    if dtype.kind == "bool" and function not in _BITS:
        help = "write & | ^ for logic, or cast to a number: I.cast(..., I.i32)"
        builder.reject(codes.OPERATOR_DTYPE, f"{spelled(function)} takes numbers, and these are bool", help)


def unary(builder: Builder, operator: str, operand: Operand) -> Operand:
    """negative, positive, invert, not."""
    number = static_number(operand)
    if number is not None:
        return Literal(_fold_unary(builder, operator, number))
    value = as_value(builder, operand)
    match operator:
        case "not":
            return _negate_truth(builder, value)
        case "invert" if value.dtype.kind == "bool":
            return pointwise(builder, "not", (value,), value.dtype)
        case "invert" if value.dtype.is_float:
            builder.reject(codes.OPERATOR_DTYPE, f"`~` takes bools or integers, not {value.dtype.name}")
        case "negative" | "positive" if value.dtype.kind == "bool":
            builder.reject(codes.OPERATOR_DTYPE, f"{spelled(operator)} takes numbers, and this is bool")
        case "positive":
            return value
        case _:
            return pointwise(builder, operator, (value,), value.dtype)


def _negate_truth(builder: Builder, value: Value) -> Value:
    if value.dtype.kind != "bool":
        help = "compare it, for example `n == 0`"
        builder.reject(codes.NOT_BOOL, f"`not` takes bool, and this is {value.dtype.name}", help)
    return pointwise(builder, "not", (value,), value.dtype)


def compare(builder: Builder, operator: str, lhs: Operand, rhs: Operand) -> Operand:
    static = _compare_static(builder, operator, lhs, rhs)
    if static is not None:
        return Literal(static)
    left, right = together(builder, lhs, rhs, spelled(operator))
    if left.dtype.kind == "bool" and operator not in ("equal", "not_equal"):
        help = "cast both to a number, I.cast(..., I.i32), or write it with & | ~"
        builder.reject(codes.OPERATOR_DTYPE, f"{spelled(operator)} orders numbers, and these are bool", help)
    return pointwise(builder, operator, (left, right), dtypes.boolean)


def _compare_static(builder: Builder, operator: str, lhs: Operand, rhs: Operand) -> bool | None:
    """The outcome where both sides are known: numbers, strings, enum members, None."""
    match lhs, rhs:
        case EnumMember(), EnumMember():
            return _same_or_different(builder, operator, (lhs.enum, lhs.name) == (rhs.enum, rhs.name))
        case Text(), Text():
            return _same_or_different(builder, operator, lhs.value == rhs.value)
        case (Keyword(), _) | (_, Keyword()):
            return _same_or_different(builder, operator, lhs == rhs)
        case EnumMember(), Text() | Literal():
            return _same_or_different(builder, operator, lhs.value == rhs.value)
        case Text() | Literal(), EnumMember():
            return _same_or_different(builder, operator, lhs.value == rhs.value)
        case Literal(), Literal():
            return _COMPARISONS[operator](lhs.value, rhs.value)
        case _:
            return None


def _same_or_different(builder: Builder, operator: str, same: bool) -> bool:
    if operator not in ("equal", "not_equal"):
        builder.reject(codes.OPERATOR_DTYPE, f"{spelled(operator)} orders numbers; these can only be == or !=")
    return same == (operator == "equal")


def logical(builder: Builder, operator: str, lhs: Operand, rhs: Operand) -> Operand:
    """`and` and `or` of two literals (as Python does) or of bool values, elementwise."""
    a, b = static_number(lhs), static_number(rhs)
    if a is not None and b is not None:
        return (rhs if a else lhs) if operator == "and" else (lhs if a else rhs)
    left, right = together(builder, lhs, rhs, f"`{operator}`")
    if left.dtype.kind != "bool":
        help = "compare first, for example `a > 0 and b > 0`"
        builder.reject(codes.NOT_BOOL, f"`{operator}` takes bool, and these are {left.dtype.name}", help)
    return pointwise(builder, operator, (left, right), left.dtype)


# ------------------------------------------------------------------------------------------------------------ folding
def _fold(builder: Builder, operator: str, a: Number, b: Number) -> Number:
    try:
        _check_size(builder, operator, a, b)
        if operator in _INTEGER_FOLDS:
            return _fold_integers(builder, operator, a, b)
        result = _FOLDS[operator](a, b)
    except (ArithmeticError, ValueError) as error:
        builder.reject(
            codes.CONSTANT_ARITHMETIC, f"{a} {SYMBOLS.get(operator, operator)} {b} cannot be computed: {error}"
        )
    if isinstance(result, complex):
        builder.reject(codes.CONSTANT_ARITHMETIC, f"{a} ** {b} is not a real number")
    return result


def _fold_integers(builder: Builder, operator: str, a: Number, b: Number) -> Number:
    if isinstance(a, float) or isinstance(b, float):
        builder.reject(codes.OPERATOR_DTYPE, f"{spelled(operator)} takes bools or integers, not floats")
    return _INTEGER_FOLDS[operator](a, b)


def _check_size(builder: Builder, operator: str, a: Number, b: Number) -> None:
    """Folding stays cheap: 1 << 10**9 is not a literal anyone needs."""
    if isinstance(a, float) or isinstance(b, float):
        return
    bits = {"power": max(a.bit_length(), 1) * b, "shift_left": a.bit_length() + b}.get(operator, 0)
    if bits > _LARGEST_FOLD:
        builder.reject(codes.CONSTANT_ARITHMETIC, f"{a} {SYMBOLS[operator]} {b} does not fit 64 bits")


def _fold_unary(builder: Builder, operator: str, value: Number) -> Number:
    match operator:
        case "not":
            return not value
        case "negative":
            return -value
        case "invert" if isinstance(value, bool):
            return not value
        case "invert" if isinstance(value, int):
            return ~value
        case "invert":
            builder.reject(codes.OPERATOR_DTYPE, "`~` takes bools or integers, not a float")
        case _:
            return +value


# ------------------------------------------------------------------------------------------------------------- values
def pointwise(
    builder: Builder,
    function: str,
    arguments: tuple[Value, ...],
    dtype: DType,
    approximate: bool = False,
    flush_to_zero: bool = False,
) -> Value:
    """Emit an elementwise function; index scalars that come to a number become that number."""
    shape = broadcast(builder, arguments, spelled(function))
    op = Pointwise(function, arguments, approximate, flush_to_zero)
    value = builder.value(op, result_type(dtype, arguments, shape))
    if value.is_scalar and dtype.kind == "index":
        known = builder.polynomial(value).constant
        if known is not None and -(1 << 63) <= known < 1 << 63:
            return builder.constant(known, dtype)
    builder.statement(Let(op, (value,), builder.span))
    return value


def select(builder: Builder, condition: Operand, a: Operand, b: Operand) -> Operand:
    """`condition ? a : b`, elementwise. Two literals make a runtime value at once."""
    test = as_value(builder, condition)
    if test.dtype.kind != "bool":
        what = describe(builder, test)
        builder.reject(codes.NOT_BOOL, f"the condition of a selection must be bool, and this is {what}")
    left, right = _branches(builder, a, b)
    shape = broadcast(builder, (test, left, right), "this selection")
    return builder.one(Select(test, left, right), result_type(left.dtype, (test, left, right), shape))


def _branches(builder: Builder, a: Operand, b: Operand) -> tuple[Value, Value]:
    left, right = static_number(a), static_number(b)
    if left is None or right is None:
        return together(builder, a, b, "the branches of a selection")
    if isinstance(left, bool) != isinstance(right, bool):
        builder.reject(codes.DTYPES_DIFFER, f"the branches of a selection are {left} and {right}", "use one kind")
    dtype = default_dtype(left + right if isinstance(left, float) or isinstance(right, float) else left)
    return instantiate(builder, Literal(left), dtype), instantiate(builder, Literal(right), dtype)


def mask(builder: Builder, value: Operand, valid: Operand, fill: Operand) -> Operand:
    kept = as_value(builder, value)
    return select(builder, valid, kept, as_value(builder, fill, kept.dtype))


def cast(builder: Builder, operand: Operand, dtype: DType) -> Value:
    known = static_number(operand)
    if known is not None:
        return builder.constant(cast_literal(builder, known, dtype), dtype)
    value = as_value(builder, operand)
    return value if value.dtype == dtype else builder.one(Cast(value), like(value, dtype))


def bitcast(builder: Builder, operand: Operand, dtype: DType) -> Value:
    value = as_value(builder, operand)
    if value.dtype.bits != dtype.bits or "bool" in (value.dtype.kind, dtype.kind):
        message = f"I.bitcast needs two dtypes of one width, and {value.dtype.name} and {dtype.name} do not have one"
        builder.reject(codes.BITCAST, message, "I.cast converts values")
    return value if value.dtype == dtype else builder.one(Bitcast(value), like(value, dtype))


def float_function(
    builder: Builder, function: str, operand: Operand, approximate: bool = False, flush_to_zero: bool = False
) -> Value:
    """A unary function of floats (abs also of integers)."""
    value = as_value(builder, operand)
    if not (value.dtype.is_float or (function == "abs" and value.dtype.is_integer)):
        message = f"I.{function} takes floats, and this is {describe(builder, value)}"
        builder.reject(codes.DTYPE_NOT_ACCEPTED, message, "write I.cast(..., I.f32) around the argument")
    check_approximation(builder, f"I.{function}", value.dtype, approximate, flush_to_zero)
    return pointwise(builder, function, (value,), value.dtype, approximate, flush_to_zero)


def float_division(builder: Builder, lhs: Operand, rhs: Operand, approximate: bool, flush_to_zero: bool) -> Value:
    left, right = together(builder, lhs, rhs, "I.fdiv")
    _check_operands(builder, "divide", left.dtype)
    check_approximation(builder, "I.fdiv", left.dtype, approximate, flush_to_zero)
    return pointwise(builder, "divide", (left, right), left.dtype, approximate, flush_to_zero)


def check_approximation(builder: Builder, what: str, dtype: DType, approximate: bool, flush_to_zero: bool) -> None:
    if flush_to_zero and not approximate:
        builder.reject(codes.APPROXIMATION, f"{what}: flush_to_zero needs approximate=True")
    if approximate and dtype != dtypes.f32:
        message = f"{what}: approximate=True is for f32, and this is {dtype.name}"
        builder.reject(codes.APPROXIMATION, message, "write I.cast(..., I.f32) around the operands, or leave it out")
