"""Loops that count by hand."""

import triton
import triton.language as tl


@triton.jit
def row_sum_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    k = 0
    while k < n:
        i = k + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
        k += BLOCK
    tl.store(y_ptr + row, tl.sum(total, 0))


@triton.jit
def powers_kernel(x_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    made = x * 0.0
    k = m
    while k >= 1:
        made = made * x + k
        k = k - 1
    tl.store(y_ptr + i, made + k, mask=i < n)


@triton.jit
def strided_kernel(x_ptr, y_ptr, n, m):
    p = tl.program_id(0)
    step = tl.num_programs(0)
    at = p
    while at < n:
        tl.store(y_ptr + at, tl.load(x_ptr + at) + m)
        at += step


@triton.jit
def turns_kernel(y_ptr, x_ptr, x_stride, y_stride, n_rows, n_cols, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0)):
        i = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * x_stride + i, mask=i < n_cols, other=-float("inf"))
        weight = tl.exp(x - tl.max(x, axis=0))
        tl.store(y_ptr + row * y_stride + i, weight / tl.sum(weight, axis=0), mask=i < n_cols)
