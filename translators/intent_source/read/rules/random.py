"""Counter-based random numbers."""

from __future__ import annotations

from intent import dtypes
from intent.dtypes import DType
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Literal, Operand
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe
from translators.intent_source.read.rules.literals import as_value
from translators.intent_source.read.rules.pointwise import binary, cast
from translators.intent_source.read.rules.shapes import broadcast, result_type
from translators.logical.program import RandomBits, Value


def bits(builder: Builder, seed: Operand, counter: Operand) -> Value:
    key = as_value(builder, seed, None if isinstance(seed, Value) else dtypes.u64)
    if key.dtype != dtypes.u64:
        message = f"the seed is u64, and this is {describe(builder, key)}"
        builder.reject(codes.DTYPE_NOT_ACCEPTED, message, "write I.cast(seed, I.u64)")
    position = as_value(builder, counter, None if isinstance(counter, Value) else dtypes.index)
    if position.dtype not in (dtypes.u64, dtypes.index):
        message = f"the counter is u64 or index, and this is {describe(builder, position)}"
        builder.reject(codes.DTYPE_NOT_ACCEPTED, message, "write I.cast(counter, I.index)")
    shape = broadcast(builder, (key, position), "the seed and the counter")
    return builder.one(RandomBits(key, position), result_type(dtypes.u32, (key, position), shape))


def uniform(builder: Builder, seed: Operand, counter: Operand, dtype: DType) -> Operand:
    """The upper 24 bits as a fraction in [0, 1)."""
    if dtype not in (dtypes.f32, dtypes.f64):
        message = f"I.random.uniform gives f32 or f64, not {dtype.name}: rounding could reach 1"
        builder.reject(codes.DTYPE_NOT_ACCEPTED, message, "write I.cast(I.random.uniform(...), dtype)")
    upper = binary(builder, "shift_right", bits(builder, seed, counter), Literal(8))
    return binary(builder, "multiply", cast(builder, upper, dtype), Literal(2.0**-24))
