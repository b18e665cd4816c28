# mypy: ignore-errors
"""Integer operations where Triton's rule differs from the language's, and the counter-based random generator."""

import triton
import triton.language as tl


@triton.jit
def _floor_divide(a, b):
    # Triton's // truncates; round down instead.
    quotient = a // b
    return tl.where((a % b != 0) & ((a ^ b) < 0), quotient - 1, quotient)


@triton.jit
def _floor_remainder(a, b):
    # Triton's % has the sign of the dividend; give it the sign of the divisor.
    remainder = a % b
    return tl.where((remainder != 0) & ((remainder ^ b) < 0), remainder + b, remainder)


@triton.jit
def _integer_power(base, exponent):
    # Square and multiply, wrapping around; a negative exponent truncates 1 / base**n.
    result = base * 0 + 1
    square = base
    remaining = exponent
    for _ in range(base.dtype.primitive_bitwidth):
        result = tl.where((remaining & 1) != 0, result * square, result)
        square = square * square
        remaining = remaining >> 1
    return result


@triton.jit
def _philox(seed, counter):
    # Philox4x32-10: word counter % 4 of block counter // 4, keyed by the seed.
    block = counter.to(tl.uint64) >> 2
    c0, c1 = block.to(tl.uint32), (block >> 32).to(tl.uint32)
    c2, c3 = c0 * 0, c0 * 0
    key = seed.to(tl.uint64)
    k0, k1 = key.to(tl.uint32), (key >> 32).to(tl.uint32)
    for _ in tl.static_range(10):
        c0, c1, c2, c3 = (
            tl.umulhi(c2, 0xCD9E8D57) ^ c1 ^ k0,
            c2 * 0xCD9E8D57,
            tl.umulhi(c0, 0xD2511F53) ^ c3 ^ k1,
            c0 * 0xD2511F53,
        )
        k0 += 0x9E3779B9
        k1 += 0xBB67AE85
    word = counter.to(tl.uint64) & 3
    return tl.where(word < 2, tl.where(word == 0, c0, c1), tl.where(word == 2, c2, c3))
