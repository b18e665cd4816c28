"""Loops that run until a condition fails: of all lanes together, and of a whole program."""

import triton
import triton.language as tl


@triton.jit
def halvings_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    x = tl.load(x_ptr + i, mask=inside, other=0.0)
    count = tl.zeros((BLOCK,), tl.int32)
    active = inside & (x > 0.25)
    while tl.max(active.to(tl.int32), axis=0) != 0:
        x = tl.where(active, x * 0.5, x)
        count = tl.where(active, count + 1, count)
        active = inside & (x > 0.25)
    tl.store(y_ptr + i, count + x, mask=inside)


@triton.jit
def counted_lanes_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    while tl.sum(tl.where(x > 0.25, 1, 0), axis=0) > 0:
        x = tl.where(x > 0.25, x * 0.5, x)
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def places_kernel(edges_ptr, x_ptr, y_ptr, n, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    low = tl.zeros((BLOCK,), tl.int64)
    active = low < count
    while tl.max(active.to(tl.int32), axis=0) > 0:
        edge = tl.load(edges_ptr + low, mask=active & (i < n), other=0.0)
        low = tl.where(active, tl.where(edge < x, low + 1, count), low)
        active = low < count
    tl.store(y_ptr + i, low, mask=i < n)


@triton.jit
def whole_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    scale = tl.load(x_ptr)
    while scale > 0.25:
        scale = scale * 0.5
        x = x + scale
    tl.store(y_ptr + i, x, mask=i < n)
