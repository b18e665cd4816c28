"""Heads that share keys: H of them, each for a group of HV // H heads of values."""

import triton
import triton.language as tl


@triton.jit
def scores_kernel(q_ptr, k_ptr, o_ptr, T, HV: tl.constexpr, H: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    i, bh = tl.program_id(0), tl.program_id(1)
    b, hv = bh // HV, bh % HV
    h = hv // (HV // H)
    t = i * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    inside = (t < T)[:, None]
    q = tl.load(q_ptr + ((b * T + t) * HV + hv)[:, None] * D + d[None, :], mask=inside, other=0.0)
    k = tl.load(k_ptr + ((b * T + t) * H + h)[:, None] * D + d[None, :], mask=inside, other=0.0)
    tl.store(o_ptr + ((b * T + t) * HV + hv)[:, None] * D + d[None, :], q * k, mask=inside)


@triton.jit
def grouped_kernel(x_ptr, y_ptr, stride_n, stride_c, channels, groups, W: tl.constexpr, BLOCK: tl.constexpr):
    n, g = tl.program_id(0), tl.program_id(1)
    size = channels // groups
    c = tl.arange(0, BLOCK)
    w = tl.arange(0, W)
    place = n * stride_n + (g * size + c)[:, None] * stride_c + w[None, :]
    x = tl.load(x_ptr + place, mask=(c < size)[:, None], other=0.0)
    tl.store(y_ptr + place, x / size, mask=(c < size)[:, None])


@triton.jit
def whole_tiles_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for tile in range(n // BLOCK):
        total += tl.load(x_ptr + tile * BLOCK + lane)
    tl.store(y_ptr, tl.sum(total, 0))
