"""Scaled, sparse and quantized contractions: typed here, and kept as one operation each."""

from __future__ import annotations

from intent import dtypes
from intent.dtypes import DType
from translators.algebra.polynomial import floor_divide, number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Format, Literal, Operand, Product
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.contractions import axis_pairs, contract_labels
from translators.intent_source.read.rules.describe import describe
from translators.intent_source.read.rules.literals import as_value, integer
from translators.intent_source.read.rules.products import flatten
from translators.intent_source.read.rules.shapes import extent_of, tensor
from translators.logical.program import Intrinsic, Value
from translators.logical.types import Scalar, Tensor

_SCALED = ("e2m1", "e4m3")
_RECORD = 256  # elements of one quantized record
_RECORD_BYTES = {"quant.q4_k": 144, "quant.q8_k": 292}


def scaled_contract(
    builder: Builder,
    operands: tuple[Operand, Operand, Operand, Operand],
    formats: tuple[Operand, Operand],
    group_sizes: tuple[Operand, Operand],
    pairs: tuple[Operand, Operand],
    accumulator: DType,
) -> Value:
    """`operands` are lhs, lhs scale, rhs, rhs scale; `pairs` are reduce and batch."""
    values = tuple(tensor(builder, operand, "a scaled contraction") for operand in operands)
    names = tuple(format_path(builder, operand, _SCALED) for operand in formats)
    sizes = tuple(integer(builder, operand, "a group size") for operand in group_sizes)
    left, right = values[0], values[2]
    reduced = axis_pairs(builder, pairs[0], left.shape, right.shape, "reduce")
    batched = axis_pairs(builder, pairs[1], left.shape, right.shape, "batch")
    lhs, rhs, result = contract_labels(builder, len(left.shape), len(right.shape), reduced, batched)
    extents = dict(zip((*rhs, *lhs), (*right.shape, *left.shape), strict=True))
    op = Intrinsic(
        "scaled_contract",
        values,
        (("formats", names), ("group_sizes", sizes), ("labels", (lhs, rhs, result)), ("accumulator", accumulator)),
    )
    return builder.one(op, Tensor(accumulator, tuple(extents[label] for label in result)))


def scaled_matmul(
    builder: Builder,
    operands: tuple[Operand, Operand, Operand, Operand],
    formats: tuple[Operand, Operand],
    group_size: Operand,
    accumulator: DType,
) -> Value:
    """[M, G, C] with scale [M, G], and [G, C, N] with scale [N, G]."""
    ranks = tuple(len(as_value(builder, operand).shape) for operand in operands)
    if ranks != (3, 2, 3, 2):
        message = f"I.scaled_matmul takes [M, G, C], [M, G], [G, C, N] and [N, G]; the ranks are {ranks}"
        builder.reject(codes.FORMAT, message)
    pairs = Product((_pair(1, 0), _pair(2, 1))), Product(())
    return scaled_contract(builder, operands, formats, (group_size, group_size), pairs, accumulator)


def _pair(lhs: int, rhs: int) -> Product:
    return Product((Literal(lhs), Literal(rhs)))


def format_path(builder: Builder, operand: Operand, allowed: tuple[str, ...]) -> str:
    if not isinstance(operand, Format) or operand.path not in allowed:
        known = ", ".join(f"I.{path}" for path in allowed)
        builder.reject(codes.FORMAT, f"{describe(builder, operand)} is not a format here", f"the formats are {known}")
    return operand.path


# ------------------------------------------------------------------------------------------------------------- sparse
def sparse_format(builder: Builder, path: str, axis: Operand, extent: Operand) -> Format:
    integer(builder, axis, "compression_axis")
    extent_of(builder, extent)
    return Format(path, (("compression_axis", axis), ("logical_extent", extent)))


def sparse_contract(
    builder: Builder,
    operands: tuple[Operand, Operand, Operand],
    format: Operand,
    pairs: tuple[Operand, Operand],
    accumulator: DType,
) -> Value:
    """`operands` are the kept elements, their logical positions, and the dense right side."""
    compressed, dense = tensor(builder, operands[0], "lhs"), tensor(builder, operands[2], "rhs")
    metadata = tuple(tensor(builder, leaf, "metadata") for leaf in flatten(operands[1]))
    path = format_path(builder, format, ("sparse.one_of_two", "sparse.two_of_four"))
    reduced = axis_pairs(builder, pairs[0], compressed.shape, dense.shape, "reduce")
    batched = axis_pairs(builder, pairs[1], compressed.shape, dense.shape, "batch")
    labels = contract_labels(builder, len(compressed.shape), len(dense.shape), reduced, batched)
    extents = dict(zip((*labels[1], *labels[0]), (*dense.shape, *compressed.shape), strict=True))
    op = Intrinsic(
        "sparse_contract",
        (compressed, *metadata, dense),
        (("format", path), ("labels", labels), ("accumulator", accumulator)),
    )
    return builder.one(op, Tensor(accumulator, tuple(extents[label] for label in labels[2])))


def sparse_matmul(
    builder: Builder, operands: tuple[Operand, Operand, Operand], format: Operand, accumulator: DType
) -> Value:
    return sparse_contract(builder, operands, format, (Product((_pair(1, 0),)), Product(())), accumulator)


def two_to_four(builder: Builder, operands: tuple[Operand, Operand, Operand], accumulator: DType) -> Value:
    compressed = as_value(builder, operands[0])
    kept = compressed.shape[-1] if compressed.shape else number(0)
    extent = builder.size(kept * 2)
    format = sparse_format(builder, "sparse.two_of_four", Literal(len(compressed.shape) - 1), extent)
    return sparse_matmul(builder, operands, format, accumulator)


# ---------------------------------------------------------------------------------------------------------- quantized
def quantize(builder: Builder, values: Operand, format: Operand) -> Value:
    """Records of 256 values along the last axis, as bytes."""
    value = tensor(builder, values, "I.quantize")
    path = format_path(builder, format, ("quant.q8_k",))
    if value.dtype != dtypes.f32:
        message = f"I.quantize takes f32, and this is {describe(builder, value)}"
        builder.reject(codes.FORMAT, message, "write I.cast(..., I.f32)")
    records = floor_divide(value.shape[-1], number(_RECORD)) if value.shape else number(1)
    shape = (*value.shape[:-1], records * _RECORD_BYTES[path])
    return builder.one(Intrinsic("quantize", (value,), (("format", path),)), Tensor(dtypes.u8, shape))


def quantized_dot(
    builder: Builder, lhs: Operand, rhs: Operand, formats: tuple[Operand, Operand], accumulator: DType
) -> Value:
    values = tensor(builder, lhs, "I.quantized_dot"), tensor(builder, rhs, "I.quantized_dot")
    for value in values:
        if value.dtype != dtypes.u8:
            builder.reject(codes.FORMAT, f"quantized records are u8, and this is {describe(builder, value)}")
    names = tuple(format_path(builder, operand, tuple(_RECORD_BYTES)) for operand in formats)
    op = Intrinsic("quantized_dot", values, (("formats", names), ("accumulator", accumulator)))
    return builder.one(op, Scalar(accumulator))
