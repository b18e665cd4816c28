"""Random numbers: Triton's generator counts in blocks of four words."""

import triton
import triton.language as tl


@triton.jit
def dropout_kernel(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    keep = tl.rand(seed, i) > p
    tl.store(y_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=i < n)


@triton.jit
def words_kernel(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(7, i + 3)
    tl.store(y_ptr + i, ((a ^ b) + (c ^ d) + tl.randint(11, 2 * i)).to(tl.int32), mask=i < n)


@triton.jit
def drawn_kernel(ids_ptr, seed_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + i, mask=i < n, other=0).to(tl.int32) - 2
    seed = tl.load(seed_ptr).to(tl.int64)
    u, _, v, _ = tl.rand4x(seed, ids)
    tl.store(y_ptr + i, u + 10.0 * v + 100.0 * tl.randn(seed, ids), mask=i < n)
