"""Contractions of narrow operands that have one scale for each group of elements.

The left operand is [M, G, C] with scales [M, G], the right one [G, C, N] with scales [N, G]; C carriers hold one group.
An e4m3 carrier (f8e4m3fn, or its byte) is one element; an e2m1 carrier is a byte of two, the earlier one in the low
nibble. A scale is an e8m0 byte, 2**(code - 127) and NaN for 255, or an f32.
"""

from __future__ import annotations

import math

from intent import dtypes
from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Literal, Operand, Product
from translators.intent_source.read.rules import codes, contractions
from translators.intent_source.read.rules.contractions import Operands, axis_pairs
from translators.intent_source.read.rules.describe import describe, show_extent, show_shape
from translators.intent_source.read.rules.formats import format_path
from translators.intent_source.read.rules.literals import integer
from translators.intent_source.read.rules.shapes import tensor
from translators.intent_source.read.rules.terms import Term, define, positions
from translators.logical.program import Value

_ELEMENTS = {"e2m1": 2, "e4m3": 1}  # of one carrier
_CARRIERS = {"e2m1": (dtypes.u8,), "e4m3": (dtypes.f8e4m3fn, dtypes.u8)}
_SCALES = (dtypes.u8, dtypes.f32)
_REDUCED = ((1, 0), (2, 1))
_BIAS = 2.0**14  # f16's exponents against e2m1's
_SMALLEST_POWER = 0x400000  # the bits of 2**-127 as an f32


@dataclass(frozen=True, slots=True)
class Side:
    """One operand as given: what the call says about it."""

    value: Operand
    scale: Operand
    format: Operand
    group_size: Operand


@dataclass(frozen=True, slots=True)
class _Scaled:
    """One operand, checked."""

    value: Value
    scale: Value
    format: str


def scaled_contract(
    builder: Builder, lhs: Side, rhs: Side, pairs: tuple[Operand, Operand], accumulator: DType, spelling: str
) -> Value:
    """`pairs` are `reduce` and `batch`, which the schema of the operands fixes."""
    left, right = _side(builder, lhs, spelling, 1), _side(builder, rhs, spelling, 0)
    _check_pairs(builder, left, right, pairs, spelling)
    _check_groups(builder, left, right, (lhs.group_size, rhs.group_size), spelling)
    if accumulator not in (dtypes.f32, dtypes.f64):
        message = f"I.{spelling} accumulates in f32 or f64, and acc_dtype is {accumulator.name}"
        builder.reject(codes.CONTRACTION_ACCUMULATOR, message, "write acc_dtype=I.f32")
    arguments = (left.value, left.scale, right.value, right.scale)
    attributes = (("formats", (left.format, right.format)), ("accumulator", accumulator))

    def definition() -> Term:
        return _definition(builder, left, right, accumulator)

    return define(builder, "scaled_contract", arguments, attributes, definition)


def scaled_matmul(builder: Builder, lhs: Side, rhs: Side, accumulator: DType) -> Value:
    pairs = Product(tuple(Product((Literal(left), Literal(right))) for left, right in _REDUCED)), Product(())
    return scaled_contract(builder, lhs, rhs, pairs, accumulator, "scaled_matmul")


# ------------------------------------------------------------------------------------------------------------- checks
def _side(builder: Builder, given: Side, spelling: str, group_axis: int) -> _Scaled:
    value = tensor(builder, given.value, f"I.{spelling}")
    scale = tensor(builder, given.scale, f"I.{spelling}")
    format = format_path(builder, given.format, tuple(_ELEMENTS))
    schema = "[M, G, C] and [M, G]" if group_axis else "[G, C, N] and [N, G]"
    ranks = len(value.shape), len(scale.shape)
    free = value.shape[2 * (1 - group_axis)] if ranks[0] == 3 else None
    if ranks != (3, 2) or (free, value.shape[group_axis]) != scale.shape:
        shapes = f"{show_shape(builder, value.shape)} and {show_shape(builder, scale.shape)}"
        message = f"{'lhs' if group_axis else 'rhs'} and its scale are {schema} in I.{spelling}; these are {shapes}"
        builder.reject(codes.FORMAT, message, "bring them to this order with I.transpose and I.reshape")
    if value.dtype not in _CARRIERS[format]:
        carriers = " or ".join(dtype.name for dtype in _CARRIERS[format])
        builder.reject(codes.FORMAT, f"I.{format} is held in {carriers}, and this is {describe(builder, value)}")
    if scale.dtype not in _SCALES:
        message = f"a scale is u8 (an I.e8m0 exponent) or f32, and this is {describe(builder, scale)}"
        builder.reject(codes.FORMAT, message)
    return _Scaled(value, scale, format)


def _check_pairs(
    builder: Builder, left: _Scaled, right: _Scaled, pairs: tuple[Operand, Operand], spelling: str
) -> None:
    reduced = axis_pairs(builder, pairs[0], left.value.shape, right.value.shape, "reduce")
    batched = axis_pairs(builder, pairs[1], left.value.shape, right.value.shape, "batch")
    if set(reduced) != set(_REDUCED) or batched:
        message = f"I.{spelling} reduces the groups and the elements of a group, and has no batch axes"
        builder.reject(codes.AXIS_PAIRS, message, "write reduce=((1, 0), (2, 1)), batch=()")
    if left.value.shape[1] != right.value.shape[0]:
        counts = f"{show_extent(builder, left.value.shape[1])} and {show_extent(builder, right.value.shape[0])}"
        builder.reject(codes.CONTRACTED_EXTENTS, f"the operands of I.{spelling} have {counts} groups")


def _check_groups(
    builder: Builder, left: _Scaled, right: _Scaled, sizes: tuple[Operand, Operand], spelling: str
) -> None:
    first, second = (integer(builder, size, "a group size") for size in sizes)
    if first != second or first <= 0:
        builder.reject(codes.FORMAT, f"both group sizes of I.{spelling} are one positive number")
    for side, extent in ((left, left.value.shape[2]), (right, right.value.shape[1])):
        carriers, rest = divmod(first, _ELEMENTS[side.format])
        if rest or extent != number(carriers):
            held = f"{_ELEMENTS[side.format]} elements" if _ELEMENTS[side.format] > 1 else "one element"
            message = f"a group of {first} in I.{side.format}, {held} a carrier, does not have the extent "
            builder.reject(codes.FORMAT, f"{message}{show_extent(builder, extent)}")


# --------------------------------------------------------------------------------------------------------- definition
def _definition(builder: Builder, left: _Scaled, right: _Scaled, accumulator: DType) -> Term:
    """The sum over groups of both scales times the contraction of the elements, which f16 holds exactly."""
    lhs = _elements(builder, left, 2).named("lhs")
    rhs = _elements(builder, right, 1).named("rhs")
    given = Operands(lhs.value, rhs.value, accumulator, "scaled_contract")
    reduced = Product((Product((Literal(2), Literal(1))),))
    batched = Product((Product((Literal(1), Literal(0))),))
    partial = Term(builder, contractions.contract(builder, given, reduced, batched)).named("partial")
    lhs_scale = _scale(builder, left).named("lhs_scale").cast(accumulator)
    rhs_scale = _scale(builder, right).named("rhs_scale").cast(accumulator)
    scale = lhs_scale[:, :, None] * rhs_scale.transpose(1, 0)[None, :, :]
    return (partial * scale).sum(1).named("acc")


def _elements(builder: Builder, side: _Scaled, axis: int) -> Term:
    """The elements of every group as f16; `axis` is that of the carriers."""
    carriers = Term(builder, side.value)
    if side.format == "e4m3":
        return carriers.bits(dtypes.f8e4m3fn).cast(dtypes.f16)
    shifts = (positions(builder, 2, dtypes.u8) * 4).named("shift")
    shape = list(carriers.shape)
    shape.insert(axis + 1, number(1))
    shift = shifts.reshape(*(2 if position == axis + 1 else 1 for position in range(4)))
    nibbles = (carriers.reshape(*shape) >> shift) & 15
    shape[axis : axis + 2] = [carriers.shape[axis] * 2]
    return _from_e2m1(nibbles.reshape(*shape).cast(dtypes.u16).named("code"))


def _from_e2m1(code: Term) -> Term:
    """Sign, two bits of exponent and one of fraction, where f16 has them; subnormals come out right as well."""
    return (((code & 7) << 9) | ((code & 8) << 12)).bits(dtypes.f16) * _BIAS


def _scale(builder: Builder, side: _Scaled) -> Term:
    """An e8m0 code is the exponent of an f32, except that code 0 is a subnormal and code 255 is NaN."""
    scale = Term(builder, side.scale)
    if scale.value.dtype == dtypes.f32:
        return scale
    code = scale.cast(dtypes.u32)
    power = (code << 23).maximum(_SMALLEST_POWER).bits(dtypes.f32)
    return code.equals(255).choose(math.nan, power)
