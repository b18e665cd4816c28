# mypy: ignore-errors
"""Conversions that a plain `.to(...)` gets wrong on some target or in the CPU interpreter."""

import os

import triton
import triton.language as tl

_INTERPRETED = tl.constexpr(os.getenv("TRITON_INTERPRET") == "1")


@triton.jit
def _to_bfloat16(x):
    # Nearest even. The CPU interpreter's own conversion truncates, so there it is done on the bits.
    if _INTERPRETED:
        bits = x.to(tl.uint32, bitcast=True)
        bits = tl.where(x == x, bits + 0x7FFF + ((bits >> 16) & 1), bits | 0x400000)
        result = (bits >> 16).to(tl.uint16).to(tl.bfloat16, bitcast=True)
    else:
        result = x.to(tl.bfloat16)
    return result


@triton.jit
def _round_to_odd(x):
    # float64 to float32 so that a second rounding to a narrower type gives what one rounding would:
    # truncate, and set the last bit if anything was lost.
    rounded = x.to(tl.float32)
    widened = rounded.to(tl.float64)
    bits = rounded.to(tl.int32, bitcast=True)
    bits = tl.where(tl.abs(widened) > tl.abs(x), bits - 1, bits)
    return tl.where(widened != x, bits | 1, bits).to(tl.float32, bitcast=True)


@triton.jit
def _to_float8e5m2(x):
    # The byte of the nearest float8e5m2, ties to even, with overflow to infinity. It is the upper byte of
    # a float16, which is rounded to odd first so that there is one rounding in all.
    half = x.to(tl.float16)
    widened = half.to(tl.float32)
    bits = half.to(tl.int16, bitcast=True)
    bits = tl.where(tl.abs(widened) > tl.abs(x), bits - 1, bits)
    bits = tl.where(widened != x, bits | 1, bits).to(tl.uint16)
    bits = tl.where(x == x, bits + 0x7F + ((bits >> 8) & 1), bits | 0x200)
    return (bits >> 8).to(tl.uint8)


@triton.jit
def _from_float8e5m2(x):
    # A float8e5m2 is its byte, as not every GPU has the type: the upper byte of a float16.
    return (x.to(tl.uint16) << 8).to(tl.float16, bitcast=True)


@triton.jit
def _to_float8e4m3fn(x):
    # The byte of the nearest float8e4m3fn, ties to even; out of range saturates, NaN stays NaN.
    magnitude = tl.minimum(tl.abs(x), 448.0, propagate_nan=tl.PropagateNan.ALL)
    bits = magnitude.to(tl.int32, bitcast=True)
    normal = (bits + 0x7FFFF + ((bits >> 20) & 1) >> 20) - (120 << 3)
    # Below 2**-6 the codes are multiples of 2**-9: adding 1.5 * 2**14 rounds to one.
    subnormal = (magnitude + 24576.0).to(tl.int32, bitcast=True) & 0xF
    code = tl.where(magnitude < 0.015625, subnormal, normal)
    code = tl.where(x == x, code, 0x7F)
    sign = (x.to(tl.int32, bitcast=True) >> 24) & 0x80
    return (code | sign).to(tl.uint8)


@triton.jit
def _from_float8e4m3fn(x):
    # A float8e4m3fn is its byte, as not every GPU has the type; a float16 holds all of its values. Those that have it
    # convert it; on others exponent and significand are moved to where float16 has them, and multiplying by
    # 2**(15 - 7) corrects the bias, subnormals included. 0x7F is NaN.
    if not _INTERPRETED and tl.target_info.cuda_capability_geq(8, 9):
        result = x.to(tl.float8e4nv, bitcast=True).to(tl.float16)
    else:
        byte = x.to(tl.int8, bitcast=True).to(tl.int16)
        value = ((byte << 7) & ~0x407F).to(tl.float16, bitcast=True) * 256.0
        result = tl.where((byte & 0x7F) == 0x7F, float("nan"), value)
    return result


@triton.jit
def _integer_to_float64(x):
    # A 64-bit integer as a float64 that rounds to bfloat16 as the integer would: bits that float64 cannot hold are
    # gathered in the last one kept.
    dropped = x & 2047
    kept = (x - dropped) | tl.where(dropped != 0, 2048, 0)
    return tl.where(tl.abs(x) < 9007199254740992, x, kept).to(tl.float64)
