"""Quantized records: their bytes, what I.quantize writes into them, and the dot product of two rows of records.

A record holds 256 elements. All fields are little-endian, without padding:

    Q4_K, 144 bytes   d f16 at 0, dmin f16 at 2, eight 6-bit scales and eight 6-bit minima in 12 bytes at 4, 4-bit
                      elements at 16: byte 32*p + l holds element 64*p + l low and element 64*p + 32 + l high
    Q8_K, 292 bytes   d f32 at 0, 8-bit elements at 4, the sum of each 16 elements as i16 at 260
"""

from __future__ import annotations

from intent import dtypes
from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Operand
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, show_extent
from translators.intent_source.read.rules.formats import format_path
from translators.intent_source.read.rules.shapes import tensor
from translators.intent_source.read.rules.terms import Term, define, positions
from translators.logical.program import Intrinsic, Value

RECORD = 256  # elements of one record
BYTES = {"quant.q4_k": 144, "quant.q8_k": 292}
_ROUNDING = 12582912.0  # 1.5 * 2**23: adding it to a small f32 leaves the nearest integer in the low bits


def quantize(builder: Builder, values: Operand, format: Operand) -> Value:
    """[..., 256] f32 as [..., 292] bytes."""
    value = tensor(builder, values, "I.quantize")
    path = format_path(builder, format, ("quant.q8_k",))
    if value.dtype != dtypes.f32:
        message = f"I.quantize takes f32, and this is {describe(builder, value)}"
        builder.reject(codes.FORMAT, message, "write I.cast(..., I.f32)")
    if not value.shape or value.shape[-1] != number(RECORD):
        message = f"a record holds {RECORD} elements, and this is {describe(builder, value)}"
        builder.reject(codes.FORMAT, message, f"write I.reshape(v, (..., {RECORD}))")
    return define(builder, "quantize", (value,), (("format", path),), lambda: _records(builder, value), rounded=True)


def quantized_dot(
    builder: Builder, lhs: Operand, rhs: Operand, formats: tuple[Operand, Operand], accumulator: DType
) -> Value:
    """Bytes [G, 144] and [G, 292], or one record of each: a rank-zero f32 tensor."""
    paths = format_path(builder, formats[0], ("quant.q4_k",)), format_path(builder, formats[1], ("quant.q8_k",))
    left, right = (_records_of(builder, side, path) for side, path in zip((lhs, rhs), paths, strict=True))
    if accumulator != dtypes.f32:
        message = f"I.quantized_dot accumulates in f32, and acc_dtype is {accumulator.name}"
        builder.reject(codes.CONTRACTION_ACCUMULATOR, message)
    if left.shape[:-1] != right.shape[:-1]:
        pair = f"{describe(builder, left)} and {describe(builder, right)}"
        builder.reject(codes.CONTRACTED_EXTENTS, f"I.quantized_dot pairs records one by one; these are {pair}")
    attributes = (("formats", paths), ("accumulator", accumulator))
    return define(builder, "quantized_dot", (left, right), attributes, lambda: _dot(builder, left, right), rounded=True)


def _records_of(builder: Builder, operand: Operand, path: str) -> Value:
    value = tensor(builder, operand, "I.quantized_dot")
    if value.dtype != dtypes.u8:
        builder.reject(codes.FORMAT, f"quantized records are u8, and this is {describe(builder, value)}")
    if len(value.shape) not in (1, 2) or value.shape[-1] != number(BYTES[path]):
        found = show_extent(builder, value.shape[-1]) if value.shape else "no"
        message = f"records of I.{path} are [G, {BYTES[path]}] bytes, and this has {found} in its last axis"
        builder.reject(codes.FORMAT, message, f"write I.reshape(v, (..., {BYTES[path]}))")
    return value


# ------------------------------------------------------------------------------------------------------------- fields
@dataclass(frozen=True, slots=True)
class _Fields:
    """Of Q8_K records: scales [G], elements [G, 256] and their sums [G, 16], the last two as i32."""

    scale: Term
    elements: Term
    sums: Term


def _records(builder: Builder, value: Value) -> Term:
    """The bytes of the records of `value`, each chosen by its position."""
    fields = _quantized(builder, value)
    place = positions(builder, BYTES["quant.q8_k"], dtypes.index)
    sums = _bytes(fields.sums.cast(dtypes.u16), 2)
    tail = sums.reshape(*sums.shape[:-2], 32).take((place + 28) % 32)
    elements = fields.elements.cast(dtypes.u8).take((place + 252) % RECORD)
    head = _bytes(fields.scale.bits(dtypes.u32), 4).take(place % 4)
    records = (place < 4).choose(head, (place < 260).choose(elements, tail))
    return records.reshape(*value.shape[:-1], BYTES["quant.q8_k"])


def _quantized(builder: Builder, value: Value) -> _Fields:
    """Each record is scaled so that its extreme becomes -127, and rounded to the nearest integers, ties to even.

    The product with the inverse is rounded before that: no fused multiply-add. It never leaves [-127, 127].
    """
    rows = value.shape[:-1] or (number(1),)
    given = Term(builder, value).reshape(*rows, RECORD)
    high, negated = given.max(-1), (-given).max(-1)
    extreme = (high > negated).choose(high, -negated).named("extreme")
    empty = extreme.equals(0.0)
    inverse = empty.choose(0.0, -127.0 / empty.choose(1.0, extreme)).named("inverse")
    scale = empty.choose(0.0, 1.0 / empty.choose(1.0, inverse)).named("record_scale")
    rounded = (given * inverse[..., None] + _ROUNDING).bits(dtypes.i32)
    elements = ((rounded & 0x7FFFFF) - 0x400000).named("quantized")
    return _Fields(scale, elements, elements.reshape(*rows, 16, 16).sum(-1).named("sums"))


def _read_fields(builder: Builder, records: Value) -> _Fields:
    """The fields of Q8_K records; of ones just made, the values themselves."""
    origin = records.origin
    if isinstance(origin, Intrinsic) and origin.name == "quantize":
        return _quantized(builder, origin.arguments[0])
    stored = _rows(builder, records)
    scale = _integer(stored[:, 0:4], dtypes.u32).bits(dtypes.f32).named("record_scale")
    elements = stored[:, 4:260].bits(dtypes.i8).cast(dtypes.i32).named("elements")
    pairs = stored[:, 260:292].reshape(stored.shape[0], 16, 2)
    return _Fields(scale, elements, _integer(pairs, dtypes.u16).bits(dtypes.i16).cast(dtypes.i32).named("sums"))


def _rows(builder: Builder, records: Value) -> Term:
    return Term(builder, records).reshape(*(records.shape[:-1] or (number(1),)), records.shape[-1])


def _integer(stored: Term, dtype: DType) -> Term:
    """The bytes along the last axis as one little-endian unsigned integer."""
    count = dtype.bits // 8
    parts = [stored[..., ordinal].cast(dtype) << (8 * ordinal) for ordinal in range(1, count)]
    total = stored[..., 0].cast(dtype)
    for part in parts:
        total = total | part
    return total


def _bytes(value: Term, count: int) -> Term:
    """The bytes of unsigned integers along a new last axis."""
    shift = (positions(value.builder, count, value.value.dtype) * 8).named("shift")
    return ((value[..., None] >> shift) & 255).cast(dtypes.u8)


# ---------------------------------------------------------------------------------------------------------------- dot
def _dot(builder: Builder, left: Value, right: Value) -> Term:
    """Exact integer sums of each record, three roundings, and the records added in order."""
    stored, fields = _rows(builder, left), _read_fields(builder, right)
    count = stored.shape[0]
    packed = stored[:, 16:144].reshape(count, 4, 1, 32)
    shift = (positions(builder, 2, dtypes.u8) * 4).reshape(2, 1).named("shift")
    weights = ((packed >> shift) & 15).cast(dtypes.i32).named("weights").reshape(count, 8, 32)
    products = weights * fields.elements.reshape(count, 8, 32)
    both = stored[:, 12:16].cast(dtypes.i32)
    scales = _six_bits(stored[:, 4:8].cast(dtypes.i32), both & 15).named("scales")
    minima = _six_bits(stored[:, 8:12].cast(dtypes.i32), both >> 4).named("minima")
    total = (scales[:, :, None] * products).reshape(count, RECORD).sum(1).named("total")
    offset = (minima[:, :, None] * fields.sums.reshape(count, 8, 2)).reshape(count, 16).sum(1).named("offset")
    scaled = (_half(stored[:, 0:2]).named("scale") * total.cast(dtypes.f32)).named("scaled")
    shifted = (_half(stored[:, 2:4]).named("minimum") * offset.cast(dtypes.f32)).named("shifted")
    return (fields.scale * (scaled - shifted)).sum(0, ordered=True).named("acc").tensor()


def _six_bits(own: Term, rest: Term) -> Term:
    """Four fields in the low bits of their own bytes, and four in four bits of `rest` under the top bits of those."""
    fields = (own & 63).join(rest | ((own >> 6) << 4))
    return fields.transpose(0, 2, 1).reshape(own.shape[0], 8)


def _half(stored: Term) -> Term:
    return _integer(stored, dtypes.u16).bits(dtypes.f16).cast(dtypes.f32)
