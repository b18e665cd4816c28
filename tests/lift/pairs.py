"""Tiles of pairs: complex numbers one part after the other, and tiles of which one has every other element."""

import triton
import triton.language as tl


@triton.jit
def rotated_kernel(x_ptr, c_ptr, s_ptr, y_ptr, n, H: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, 2 * H)
    x = tl.load(x_ptr + row * (2 * H) + i)
    re, im = tl.split(tl.reshape(x, (H, 2)))
    h = tl.arange(0, H)
    c, s = tl.load(c_ptr + h), tl.load(s_ptr + h)
    turned = tl.interleave(re * c - im * s, re * s + im * c)
    tl.store(y_ptr + row * (2 * H) + i, turned)


@triton.jit
def swapped_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = 2 * i[:, None] + tl.arange(0, 2)[None, :]
    even, odd = tl.split(tl.load(x_ptr + at, mask=(i < n)[:, None], other=0.0))
    tl.store(y_ptr + at, tl.join(odd, even), mask=(i < n)[:, None])


@triton.jit
def _butterfly(x, B: tl.constexpr, S: tl.constexpr):
    a, b = tl.split(tl.permute(tl.reshape(x, (B // (2 * S), 2, S)), (0, 2, 1)))
    return tl.reshape(tl.permute(tl.join(a + b, a - b), (0, 2, 1)), (B,))


@triton.jit
def butterflies_kernel(y_ptr, x_ptr):
    at = tl.program_id(0) * 16 + tl.arange(0, 16)
    x = tl.load(x_ptr + at)
    for stage in tl.static_range(4):
        x = _butterfly(x, 16, 1 << (3 - stage))
    tl.store(y_ptr + at, x)
