"""Reductions, scans, arg-reductions and histograms."""

from __future__ import annotations

import math

from intent import dtypes
from intent.dtypes import DType
from intent.records import dataclass
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import IntrinsicName, Operand, Product
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe
from translators.intent_source.read.rules.domains import bound
from translators.intent_source.read.rules.lambdas import combine_lambda
from translators.intent_source.read.rules.literals import as_value, static_number
from translators.intent_source.read.rules.pointwise import cast
from translators.intent_source.read.rules.products import flatten, rebuild, same_nesting, show_schema
from translators.intent_source.read.rules.shapes import axes_of, axis_of, fits, tensor
from translators.logical.program import ArgReduce, Histogram, Reduce, Scan, Value
from translators.logical.types import Scalar, Tensor, Type


# ----------------------------------------------------------------------------------------------------------- builtins
def builtin_reduce(builder: Builder, kind: str, operand: Operand, axis: Operand, accumulator: DType | None) -> Value:
    what = f"I.reduce.{kind}"
    value = tensor(builder, operand, what)
    _check_dtype(builder, kind, value.dtype, what)
    axes = axes_of(builder, axis, value.shape)
    value = accumulated(builder, kind, value, accumulator)
    return builder.one(Reduce(kind, (value,), axes), without(value, axes))


def _check_dtype(builder: Builder, kind: str, dtype: DType, what: str) -> None:
    wants_bool = kind in ("any", "all")
    if wants_bool != (dtype.kind == "bool"):
        takes = "bools" if wants_bool else "numbers"
        help = "compare first, for example v != 0" if wants_bool else "I.reduce.any and all take bools, or cast first"
        builder.reject(codes.REDUCED_DTYPE, f"{what} takes {takes}, and these are {dtype.name}", help)


def accumulated(builder: Builder, kind: str, value: Value, accumulator: DType | None) -> Value:
    """The value in the dtype it is accumulated in: `acc_dtype`, or what a sum widens to."""
    wanted = accumulator or (widened(value.dtype) if kind == "sum" else value.dtype)
    if accumulator is not None:
        check_accumulator(builder, value.dtype, accumulator, codes.REDUCTION_ACCUMULATOR)
    return cast(builder, value, wanted)


def widened(dtype: DType) -> DType:
    if dtype.is_float:
        return dtypes.f32 if dtype.bits < 32 else dtype
    if dtype.bits < 32:
        return dtypes.i32 if dtype.is_signed else dtypes.u32
    return dtype


def check_accumulator(builder: Builder, operand: DType, accumulator: DType, code: str) -> None:
    same_kind = operand.is_float == accumulator.is_float and accumulator.kind != "bool"
    if not same_kind or accumulator.bits < operand.bits:
        message = f"{operand.name} cannot be accumulated in {accumulator.name}"
        builder.reject(code, message, "acc_dtype is of the operand's kind and at least as wide; cast the operand first")


def without(value: Value, axes: tuple[int, ...]) -> Type:
    """The type left when axes are reduced: a scalar if none remains."""
    kept = tuple(extent for axis, extent in enumerate(value.shape) if axis not in axes)
    return Tensor(value.dtype, kept) if kept else Scalar(value.dtype)


def arg_reduce_max(builder: Builder, operand: Operand, axis: Operand, accumulator: DType | None) -> Product:
    value = tensor(builder, operand, "I.arg_reduce.max")
    _check_dtype(builder, "max", value.dtype, "I.arg_reduce.max")
    axes = axes_of(builder, axis, value.shape)
    if len(axes) > 1:
        builder.reject(codes.AXIS, "I.arg_reduce.max reduces one axis", "reshape the axes into one first")
    value = accumulated(builder, "max", value, accumulator)
    kept = without(value, axes)
    positions = Tensor(dtypes.index, kept.shape) if isinstance(kept, Tensor) else Scalar(dtypes.index)
    return Product(builder.emit(ArgReduce(value, axes[0]), kept, positions))


def builtin_scan(
    builder: Builder, kind: str, operand: Operand, axis: Operand, order: Order, accumulator: DType | None
) -> Value:
    what = f"I.cum{kind}"
    value = tensor(builder, operand, what)
    _check_dtype(builder, kind, value.dtype, what)
    value = accumulated(builder, kind, value, accumulator)
    op = Scan(kind, (value,), axis_of(builder, axis, value.shape), order.inclusive, order.reverse)
    return builder.one(op, value.type)


@dataclass(frozen=True, slots=True)
class Order:
    """Which prefix each position of a scan gets."""

    inclusive: bool
    reverse: bool


# ------------------------------------------------------------------------------------------------------------ generic
@dataclass(frozen=True, slots=True)
class Combination:
    """The identity, combine, captured operands and accumulation dtype of a generic reduction or scan."""

    identity: Operand
    combine: Operand
    operands: Operand
    accumulator: DType | None


def generic_reduce(builder: Builder, operand: Operand, axis: Operand, how: Combination) -> Operand:
    values = _elements(builder, operand, how.accumulator, "I.reduce")
    axes = axes_of(builder, axis, values[0].shape)
    _check_agreement(builder, values, axes)
    types = tuple(without(value, axes) for value in values)
    identities = _identities(builder, operand, types, how.identity)
    kind = _builtin_kind(how, values)
    if kind is not None:
        return builder.one(Reduce(kind, values, axes), types[0])
    combine, captures = combine_lambda(builder, operand, types, how.combine, how.operands, "the combine of I.reduce")
    op = Reduce("generic", values, axes, combine, identities, captures)
    return rebuild(operand, builder.emit(op, *types))


def generic_scan(builder: Builder, operand: Operand, axis: Operand, how: Combination, order: Order) -> Operand:
    values = _elements(builder, operand, how.accumulator, "I.scan")
    along = axis_of(builder, axis, min((value.shape for value in values), key=len))
    _check_agreement(builder, values, (along,))
    types = tuple(without(value, (along,)) for value in values)
    identities = _identities(builder, operand, types, how.identity)
    kind = _builtin_kind(how, values)
    if kind is not None:
        return builder.one(Scan(kind, values, along, order.inclusive, order.reverse), values[0].type)
    combine, captures = combine_lambda(builder, operand, types, how.combine, how.operands, "the combine of I.scan")
    op = Scan("generic", values, along, order.inclusive, order.reverse, combine, identities, captures)
    return rebuild(operand, builder.emit(op, *(value.type for value in values)))


def _elements(builder: Builder, operand: Operand, accumulator: DType | None, what: str) -> tuple[Value, ...]:
    values = tuple(tensor(builder, leaf, what) for leaf in flatten(operand))
    if not values or not all(value.shape for value in values):
        builder.reject(codes.TENSOR_EXPECTED, f"{what} takes tensors with at least one axis")
    if accumulator is None:
        return values
    for value in values:
        check_accumulator(builder, value.dtype, accumulator, codes.REDUCTION_ACCUMULATOR)
    return tuple(cast(builder, value, accumulator) for value in values)


def _check_agreement(builder: Builder, values: tuple[Value, ...], axes: tuple[int, ...]) -> None:
    """Every component has the same extents along the axes."""
    first = values[0].shape
    for value in values[1:]:
        if max(axes) >= len(value.shape) or any(value.shape[axis] != first[axis] for axis in axes):
            message = f"the components differ along axis {axes[0]}: {describe(builder, values[0])} and "
            builder.reject(codes.SOURCES, message + describe(builder, value))


def _identities(builder: Builder, operand: Operand, types: tuple[Type, ...], identity: Operand) -> tuple[Value, ...]:
    """The identity's components; a scalar stands for a whole slice of its value."""
    if not same_nesting(operand, identity):
        message = f"the identity is {show_schema(builder, identity)}, and the value {show_schema(builder, operand)}"
        builder.reject(codes.IDENTITY, message, "give one identity for each component, in the same tuple or record")
    pairs = zip(flatten(identity), types, strict=True)
    return tuple(identity_value(builder, leaf, type) for leaf, type in pairs)


def identity_value(builder: Builder, leaf: Operand, type: Type) -> Value:
    value = as_value(builder, leaf, None if isinstance(leaf, Value) else type.dtype)
    if value.dtype != type.dtype:
        message = f"the identity is {value.dtype.name} where the value is {type.dtype.name}"
        builder.reject(codes.IDENTITY, message, f"write I.cast(..., {type.dtype!r})")
    if not value.is_scalar and value.shape != type.shape:
        fits(builder, value, type.shape, "the identity has the shape of one element", codes.IDENTITY)
        message = "the identity has the shape of one element or is a scalar"
        builder.reject(codes.IDENTITY, message, "write I.full(shape, value, dtype)")
    return value


def _builtin_kind(how: Combination, values: tuple[Value, ...]) -> str | None:
    """sum or max where the generic form spells exactly that."""
    if not isinstance(how.combine, IntrinsicName) or len(values) != 1 or flatten(how.operands):
        return None
    identity, dtype = static_number(how.identity), values[0].dtype
    if how.combine.path == "add" and identity == 0:
        return "sum"
    if how.combine.path == "maximum" and dtype.is_float and identity == -math.inf:
        return "max"
    return None


# ---------------------------------------------------------------------------------------------------------- histogram
def histogram(builder: Builder, values: Operand, bins: Operand, valid: Operand, count: DType) -> Value:
    members = tensor(builder, values, "I.histogram")
    if not members.dtype.is_integer:
        message = f"I.histogram counts integers, and this is {describe(builder, members)}"
        builder.reject(codes.HISTOGRAM, message, "write I.cast(..., I.i32)")
    condition = as_value(builder, valid)
    if condition.dtype.kind != "bool":
        builder.reject(codes.HISTOGRAM, f"valid is bool, and this is {describe(builder, condition)}", at="valid")
    fits(builder, condition, members.shape, "valid of I.histogram", codes.HISTOGRAM)
    if not count.is_integer:
        message = f"count_dtype is an integer dtype, and this is {count.name}"
        builder.reject(codes.HISTOGRAM, message, "write I.i32", at="count_dtype")
    size = bound(builder, bins, "the number of bins", "bins")
    op = Histogram(members, condition, size)
    return builder.one(op, Tensor(count, (builder.polynomial(size),)))
