"""Reductions by functions of elements: several results at once, parts that do not read each other, integers."""

import triton
import triton.language as tl


@triton.jit
def moments(mean_x, count_x, spread_x, mean_y, count_y, spread_y):
    count = count_x + count_y
    share = count_y / tl.maximum(count, 1.0)
    step = mean_y - mean_x
    return mean_x + step * share, count, spread_x + spread_y + step * step * count_x * share


@triton.jit
def row_moments(x_ptr, mean_ptr, spread_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < N
    x = tl.load(x_ptr + row * N + i, mask=inside, other=0.0)
    ones = tl.where(inside, 1.0, 0.0)
    mean, count, spread = tl.reduce((x, ones, x * 0.0), axis=0, combine_fn=moments)
    tl.store(mean_ptr + row, mean)
    tl.store(spread_ptr + row, spread / count)


@triton.jit
def larger(value_a, place_a, value_b, place_b):
    first = (value_a > value_b) | ((value_a == value_b) & (place_a < place_b))
    return tl.where(first, value_a, value_b), tl.where(first, place_a, place_b)


@triton.jit
def row_largest(x_ptr, value_ptr, place_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=-float("inf"))
    places = tl.where(i < N, i, 2147483647)
    value, place = tl.reduce((x, places), axis=0, combine_fn=larger)
    tl.store(value_ptr + row, value)
    tl.store(place_ptr + row, place)


@triton.jit
def total_and_largest(a, b, c, d):
    return a + c, tl.maximum(b, d)


@triton.jit
def row_total_and_largest(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + i, mask=i < N, other=0.0)
    total, largest = tl.reduce((x, tl.where(i < N, x, -float("inf"))), 0, total_and_largest)
    tl.store(out_ptr + row, total * largest)


@triton.jit
def odd(a, b):
    return a ^ b


@triton.jit
def times(a, b):
    return a * b


@triton.jit
def row_parity(ids_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(ids_ptr + row * N + i, mask=i < N, other=0).to(tl.int32)
    y = tl.load(ids_ptr + row * N + i, mask=i < N, other=1).to(tl.int32)
    least = tl.min(tl.where(i < N, x, 2147483647), 0)
    tl.store(out_ptr + row, tl.reduce(x, 0, odd) + 10 * tl.reduce(y, 0, times) + 1000 * least)
