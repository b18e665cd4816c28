"""Prefix sums, products and maxima: in one tile, carried from tile to tile, reversed, and within blocks."""

import torch
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + columns, mask=columns < n_cols, other=0.0)
    tl.store(y_ptr + row * n_cols + columns, tl.cumsum(x, axis=0), mask=columns < n_cols)


def cumsum(x):
    n_rows, n_cols = x.shape
    y = torch.empty_like(x)
    cumsum_kernel[(n_rows,)](x, y, n_cols, BLOCK=triton.next_power_of_2(n_cols))
    return y


@triton.jit
def tiled_cumsum_kernel(x_ptr, y_ptr, N, TILE: tl.constexpr):
    row = tl.program_id(0)
    running = 0.0
    for start in range(0, N, TILE):
        n = start + tl.arange(0, TILE)
        x = tl.load(x_ptr + row * N + n, mask=n < N, other=0.0)
        tl.store(y_ptr + row * N + n, running + tl.cumsum(x, 0), mask=n < N)
        running += tl.sum(x, 0)


def tiled_cumsum(x, y):
    M, N = x.shape
    tiled_cumsum_kernel[(M,)](x, y, N, TILE=256)


@triton.jit
def running_total_kernel(x_ptr, y_ptr, T, D, BLOCK: tl.constexpr):
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for t in range(T):
        total += tl.load(x_ptr + t * D + d, mask=d < D, other=0.0)
        tl.store(y_ptr + t * D + d, total, mask=d < D)


@triton.jit
def suffix_sum_kernel(x_ptr, y_ptr, T, D, BLOCK: tl.constexpr):
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for t in range(T - 1, -1, -1):
        tl.store(y_ptr + t * D + d, total, mask=d < D)
        total += tl.load(x_ptr + t * D + d, mask=d < D, other=0.0)


@triton.jit
def chunk_cumsum_kernel(gates_ptr, out_ptr, T, CHUNK: tl.constexpr, REVERSE: tl.constexpr = False):
    chunk = tl.program_id(0)
    head = tl.program_id(1)
    t = chunk * CHUNK + tl.arange(0, CHUNK)
    gates = tl.load(gates_ptr + head * T + t, mask=t < T, other=0.0)
    sums = tl.cumsum(gates, axis=0, reverse=True) if REVERSE else tl.cumsum(gates, axis=0)
    tl.store(out_ptr + head * T + t, sums, mask=t < T)


def chunk_cumsum(gates):
    H, T = gates.shape
    out = torch.empty_like(gates)
    chunk_cumsum_kernel[(triton.cdiv(T, 64), H)](gates, out, T, CHUNK=64)
    return out


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_peak_kernel(price_ptr, fall_ptr, n_cols, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    price = tl.load(price_ptr + i, mask=i < n_cols, other=float("-inf"))
    peak = tl.associative_scan(price, 0, larger)
    tl.store(fall_ptr + i, peak - price, mask=i < n_cols)


def running_peak(price, fall):
    n = price.numel()
    running_peak_kernel[(1,)](price, fall, n, BLOCK=triton.next_power_of_2(n))
