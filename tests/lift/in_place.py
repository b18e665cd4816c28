"""Kernels that store what they load."""

import triton
import triton.language as tl


@triton.jit
def swap_gradients_kernel(dout, a, b, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < n_cols
    d = tl.load(dout + row * stride + c, mask=inside, other=0.0)
    x = tl.load(a + row * stride + c, mask=inside, other=0.0)
    y = tl.load(b + row * stride + c, mask=inside, other=0.0)
    tl.store(a + row * stride + c, d * y, mask=inside)
    tl.store(b + row * stride + c, d * x, mask=inside)


@triton.jit
def rotate_halves_kernel(x, angles, row_stride, half, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < half
    angle = tl.load(angles + c, mask=inside)
    left = tl.load(x + row * row_stride + c, mask=inside)
    right = tl.load(x + row * row_stride + half + c, mask=inside)
    tl.store(x + row * row_stride + c, left * tl.cos(angle) - right * tl.sin(angle), mask=inside)
    tl.store(x + row * row_stride + half + c, right * tl.cos(angle) + left * tl.sin(angle), mask=inside)


@triton.jit
def normalise_rows_kernel(x, stride, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < n_cols, other=0.0)
    tl.store(x + row * stride + c, v / (1.0 + tl.sum(v * v, 0)), mask=c < n_cols)
