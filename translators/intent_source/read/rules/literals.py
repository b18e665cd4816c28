"""Literals, constants and conditions: from what is known while reading to runtime values."""

from __future__ import annotations

import math
from typing import NoReturn

from intent import dtypes
from intent.dtypes import DType
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    EnumMember,
    Keyword,
    Literal,
    Operand,
    Product,
    RaggedRow,
    Text,
    Token,
)
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe
from translators.intent_source.read.rules.rounding import has_infinity, integer_range, round_to, wrap
from translators.logical.program import Constant, Value
from translators.logical.types import Buffer, Domain, View

Number = bool | int | float


def as_value(builder: Builder, operand: Operand, dtype: DType | None = None) -> Value:
    """The operand as a runtime value; a literal takes `dtype`, or bool, i64, f64 where nothing is expected."""
    match operand:
        case Value():
            return checked(builder, operand, dtype) if dtype else operand
        case Literal():
            return instantiate(builder, operand, dtype or default_dtype(operand.value))
        case EnumMember(value=value) if not isinstance(value, str):
            return instantiate(builder, Literal(value), dtype or default_dtype(value))
        case _:
            reject_non_value(builder, operand)


def checked(builder: Builder, value: Value, dtype: DType) -> Value:
    """`value`, which has `dtype`."""
    if value.dtype != dtype:
        reject_dtypes(builder, f"{dtype.name} is expected here and this is {value.dtype.name}", value.dtype, dtype)
    return value


def reject_dtypes(builder: Builder, message: str, given: DType, wanted: DType) -> NoReturn:
    """Two dtypes met where one is needed: say which cast mends it."""
    code = codes.INDEX_MIXED if dtypes.index in (given, wanted) else codes.DTYPES_DIFFER
    builder.reject(code, message, f"write I.cast(..., {wanted!r}) around the {given.name} value")


def reject_non_value(builder: Builder, operand: Operand) -> NoReturn:
    """An operand that exists only while reading stands where a runtime value is needed."""
    match operand:
        case Domain() | RaggedRow():
            message = "a domain is a set of coordinates, not a value"
            builder.reject(codes.DOMAIN_AS_VALUE, message, "write I.indices(domain) for its coordinates")
        case View(name=name, rank=rank) | Buffer(name=name, rank=rank):
            subscript = ", ".join(":" * rank) if rank else "()"
            message = f"`{name}` is memory, not a value: it is read with a subscript"
            builder.reject(codes.STORAGE_AS_VALUE, message, f"write {name}[{subscript}]")
        case Keyword(name="None"):
            builder.reject(codes.VALUE_EXPECTED, "a value is needed here, and this is None")
        case Product():
            help = "take one component: `t[0]` of a tuple, `r.field` of a record"
            builder.reject(codes.VALUE_EXPECTED, f"{describe(builder, operand)} is not a single value", help)
        case _:
            builder.reject(codes.VALUE_EXPECTED, f"{describe(builder, operand)} is not a value")


def default_dtype(value: Number) -> DType:
    if isinstance(value, bool):
        return dtypes.boolean
    return dtypes.i64 if isinstance(value, int) else dtypes.f64


def instantiate(builder: Builder, literal: Literal, dtype: DType) -> Value:
    return builder.constant(convert(builder, literal.value, dtype), dtype)


def convert(builder: Builder, value: Number, dtype: DType) -> Number:
    """The literal in `dtype`: an int in range, a float rounded to nearest, never a float to an integer."""
    if isinstance(value, bool) or dtype.kind == "bool":
        return _convert_bool(builder, value, dtype)
    if dtype.is_float:
        return _convert_float(builder, value, dtype)
    if isinstance(value, float):
        message = f"the float literal {value} cannot become {dtype.name}"
        help = f"write an integer literal, or cast the {dtype.name} operand to a float dtype first"
        builder.reject(codes.LITERAL_KIND, message, help)
    low, high = integer_range(dtype)
    if not low <= value <= high:
        builder.reject(codes.LITERAL_RANGE, f"{value} does not fit {dtype.name}, whose range is {low} to {high}")
    return value


def _convert_bool(builder: Builder, value: Number, dtype: DType) -> Number:
    if not isinstance(value, bool):
        builder.reject(codes.LITERAL_KIND, f"bool is expected here and this is {value}", "write True or False")
    if dtype.kind != "bool":
        help = f"write {int(value)}, or I.cast({value}, {dtype!r})"
        builder.reject(codes.LITERAL_KIND, f"{dtype.name} is expected here and this is {value}", help)
    return value


def _convert_float(builder: Builder, value: int | float, dtype: DType) -> float:
    rounded = round_to(_to_float(value), dtype)
    if math.isinf(rounded) and (isinstance(value, int) or math.isfinite(value)):
        builder.reject(codes.LITERAL_RANGE, f"{value} is beyond the range of {dtype.name}")
    if math.isinf(rounded) and not has_infinity(dtype):
        builder.reject(codes.LITERAL_RANGE, f"{dtype.name} has no infinity; its largest number is 448")
    return rounded


def _to_float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def cast_literal(builder: Builder, value: Number, dtype: DType) -> Number:
    """`I.cast` of a literal, computed while reading."""
    if dtype.kind == "bool":
        return bool(value)
    if isinstance(value, bool):
        return float(value) if dtype.is_float else int(value)
    if dtype.is_float:
        rounded = round_to(_to_float(value), dtype)
        if math.isinf(rounded) and not has_infinity(dtype):
            builder.reject(codes.LITERAL_RANGE, f"{value} has no {dtype.name} value: beyond 448 there is none")
        return rounded
    if isinstance(value, float):
        return _truncate(builder, value, dtype)
    if not -(1 << 63) <= value < (1 << 64):
        builder.reject(codes.LITERAL_RANGE, f"{value} does not fit 64 bits")
    return wrap(value, dtype)


def _truncate(builder: Builder, value: float, dtype: DType) -> int:
    low, high = integer_range(dtype)
    if not math.isfinite(value) or not low <= int(value) <= high:
        builder.reject(codes.CONSTANT_ARITHMETIC, f"{value} has no {dtype.name} value")
    return int(value)


# ------------------------------------------------------------------------------------------------------- compile time
def static_number(operand: Operand) -> Number | None:
    """The compile-time number an operand stands for, if it is one."""
    match operand:
        case Literal(value=value):
            return value
        case EnumMember(value=value) if not isinstance(value, str):
            return value
        case _:
            return None


def static_integer(operand: Operand) -> int | None:
    """The compile-time integer: an int literal, or an extent that is a number."""
    value = static_number(operand)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(operand, Value) and isinstance(operand.origin, Constant) and operand.dtype.kind == "index":
        return int(operand.origin.value)
    return None


def integer(builder: Builder, operand: Operand, what: str) -> int:
    value = static_integer(operand)
    if value is None:
        message = f"{what} must be a compile-time integer, and this is {describe(builder, operand)}"
        builder.reject(codes.NOT_COMPILE_TIME, message, at=what)
    return value


def flag(builder: Builder, operand: Operand, what: str) -> bool:
    value = static_number(operand)
    if not isinstance(value, bool):
        message = f"{what} must be a compile-time bool, and this is {describe(builder, operand)}"
        builder.reject(
            codes.NOT_COMPILE_TIME, message, "write True or False, or an I.Constexpr[bool] parameter", at=what
        )
    return value


def text(builder: Builder, operand: Operand, what: str) -> str:
    if not isinstance(operand, Text):
        message = f"{what} must be a string, and this is {describe(builder, operand)}"
        builder.reject(codes.NOT_COMPILE_TIME, message, at=what)
    return operand.value


def dtype_of(builder: Builder, operand: Operand, what: str) -> DType:
    match operand:
        case Token(dtype=dtype):
            return dtype
        case Literal() | Text():
            message = f"{what} must be a dtype, and this is {describe(builder, operand)}"
            builder.reject(codes.DTYPE_EXPECTED, message, "write a dtype of the language, such as I.f32", at=what)
        case _:
            message = f"{what} must be a dtype such as I.f32, and this is {describe(builder, operand)}"
            builder.reject(codes.DTYPE_EXPECTED, message, at=what)


def is_none(operand: Operand) -> bool:
    return operand == Keyword("None") if isinstance(operand, Keyword) else False


# --------------------------------------------------------------------------------------------------------- conditions
def as_condition(builder: Builder, operand: Operand) -> bool | Value:
    """What `if`, `while` and conditional expressions test: a compile-time truth or a bool scalar."""
    match operand:
        case Literal(value=value):
            return bool(value)
        case EnumMember(value=value):
            return bool(value)
        case Text(value=string):
            return bool(string)
        case Value(is_scalar=False):
            _reject_tensor_condition(builder, operand)
        case Value(dtype=dtype) if dtype.kind != "bool":
            help = "compare it, for example `n != 0`"
            builder.reject(codes.NOT_BOOL, f"a condition must be bool, and this is {dtype.name}", help)
        case Value():
            return operand
        case _:
            builder.reject(codes.NOT_BOOL, f"{describe(builder, operand)} is not a condition")


def _reject_tensor_condition(builder: Builder, value: Value) -> NoReturn:
    what = describe(builder, value)
    if not value.shape:
        builder.reject(codes.RANK_ZERO, f"{what} is no condition", "take its scalar: t[()]")
    help = "choose values with I.select, or loop over the points with I.parallel and test one element"
    builder.reject(codes.TENSOR_CONDITION, f"a condition must be one bool, and this is {what}", help)
