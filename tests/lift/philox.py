"""Philox as kernels write it themselves: rounds in several forms, and rounds that are almost Philox."""

import triton
import triton.language as tl


@triton.jit
def upper_half(a, b):
    return ((a.to(tl.uint64) * b.to(tl.uint64)) >> 32).to(tl.uint32)


@triton.jit
def rounds(low, high, third, k0, k1, ROUNDS: tl.constexpr, FIRST: tl.constexpr, STEP: tl.constexpr):
    c0, c1, c2, c3 = low, high, third, low * 0
    for _ in tl.static_range(ROUNDS):
        a = upper_half(c0, tl.full((), FIRST, tl.uint32))
        b = tl.umulhi(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = (
            k0 ^ b ^ c1,
            (c2.to(tl.uint64) * 0xCD9E8D57 & 0xFFFFFFFF).to(tl.uint32),
            c3 ^ (a ^ k1),
            FIRST * c0,
        )
        k0, k1 = STEP + k0, k1 + 0xBB67AE85
    return c0, c1, c2, c3


@triton.jit
def words_kernel(y_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    seed = tl.load(seed_ptr).to(tl.uint32)
    low = (i + 3).to(tl.uint32)
    a, b, c, d = rounds(low, low * 0, low * 0, seed, seed * 0, 10, 0xD2511F53, 0x9E3779B9)
    tl.store(y_ptr + i, ((a ^ b) + (c & d)).to(tl.int32, bitcast=True), mask=i < n)


@triton.jit
def two_words_kernel(y_ptr, ids_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + i, mask=i < n, other=0).to(tl.uint64)
    seed = tl.load(seed_ptr).to(tl.uint64)
    k0, k1 = seed.to(tl.uint32), (seed >> 32).to(tl.uint32)
    block = ids >> 2
    low, high = block.to(tl.uint32), (block >> 32).to(tl.uint32)
    a, b, c, d = rounds(low, high, low * 0, k0, k1, 10, 0xD2511F53, 0x9E3779B9)
    word = ids & 3
    drawn = tl.where(word < 2, tl.where(word == 0, a, b), tl.where(word == 2, c, d))
    tl.store(y_ptr + i, drawn.to(tl.int32, bitcast=True), mask=i < n)


@triton.jit
def misplaced_words_kernel(y_ptr, ids_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + i, mask=i < n, other=0).to(tl.uint64)
    seed = tl.load(seed_ptr).to(tl.uint64)
    k0, k1 = seed.to(tl.uint32), (seed >> 32).to(tl.uint32)
    block = ids >> 2
    low, high = block.to(tl.uint32), (block >> 32).to(tl.uint32)
    a, b, c, d = rounds(low, high, low * 0, k0, k1, 10, 0xD2511F53, 0x9E3779B9)
    word = ids & 3
    drawn = tl.where(word < 2, tl.where(word == 0, b, a), tl.where(word == 2, c, d))
    tl.store(y_ptr + i, drawn.to(tl.int32, bitcast=True), mask=i < n)


@triton.jit
def nine_rounds_kernel(y_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    seed = tl.load(seed_ptr).to(tl.uint32)
    low = i.to(tl.uint32)
    a, b, c, d = rounds(low, low * 0, low * 0, seed, seed * 0, 9, 0xD2511F53, 0x9E3779B9)
    tl.store(y_ptr + i, (a ^ b ^ c ^ d).to(tl.int32, bitcast=True), mask=i < n)


@triton.jit
def other_factor_kernel(y_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    seed = tl.load(seed_ptr).to(tl.uint32)
    low = i.to(tl.uint32)
    a, b, c, d = rounds(low, low * 0, low * 0, seed, seed * 0, 10, 0xD2511F55, 0x9E3779B9)
    tl.store(y_ptr + i, (a ^ b ^ c ^ d).to(tl.int32, bitcast=True), mask=i < n)


@triton.jit
def other_key_kernel(y_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    seed = tl.load(seed_ptr).to(tl.uint32)
    low = i.to(tl.uint32)
    a, b, c, d = rounds(low, low * 0, low * 0, seed, seed * 0, 10, 0xD2511F53, 0x9E3779BB)
    tl.store(y_ptr + i, (a ^ b ^ c ^ d).to(tl.int32, bitcast=True), mask=i < n)


@triton.jit
def third_word_kernel(y_ptr, seed_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    seed = tl.load(seed_ptr).to(tl.uint32)
    low = i.to(tl.uint32)
    a, b, c, d = rounds(low, low * 0, low * 0 + 1, seed, seed * 0, 10, 0xD2511F53, 0x9E3779B9)
    tl.store(y_ptr + i, (a ^ b ^ c ^ d).to(tl.int32, bitcast=True), mask=i < n)
