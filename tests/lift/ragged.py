"""Rows that memory places: pages of slots, segments of rows that are stored; and groups of rows padded to a block."""

import torch
import triton
import triton.language as tl


@triton.jit
def paged_rows_kernel(x_ptr, pages_ptr, ids_ptr, N, rows, stride_x0, stride_page, stride_row, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    slot = tl.load(ids_ptr + token)
    if slot < 0:
        return
    n = tl.arange(0, BLOCK)
    place = (slot // rows) * stride_page + (slot % rows) * stride_row
    x = tl.load(x_ptr + token * stride_x0 + n, mask=n < N, other=0.0)
    tl.store(pages_ptr + place + n, x, mask=n < N)


def paged_rows(x, pages, slots):
    tokens, N = x.shape
    strides = (x.stride(0), pages.stride(0), pages.stride(1))
    paged_rows_kernel[(tokens,)](x, pages, slots, N, pages.shape[1], *strides, BLOCK=triton.next_power_of_2(N))


@triton.jit
def scaled_segments_kernel(x_ptr, scale_ptr, y_ptr, ids_ptr, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    begin = tl.load(ids_ptr + tl.program_id(2))
    length = tl.load(ids_ptr + tl.program_id(2) + 1) - begin
    if tl.program_id(0) * BLOCK_M >= length:
        return
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    there = (m[:, None] < length) & (n[None, :] < N)
    x = tl.load(x_ptr + (begin + m[:, None]) * N + n[None, :], mask=there, other=0.0)
    scale = tl.load(scale_ptr + tl.program_id(2) * N + n, mask=n < N, other=0.0)
    tl.store(y_ptr + (begin + m[:, None]) * N + n[None, :], x * scale[None, :], mask=there)


def scaled_segments(x, scale, offsets):
    y = torch.empty_like(x)
    rows, N = x.shape
    grid = lambda meta: (triton.cdiv(rows, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]), scale.shape[0])  # noqa: E731
    scaled_segments_kernel[grid](x, scale, y, offsets, N, BLOCK_M=16, BLOCK_N=16)
    return y


@triton.jit
def centred_groups_kernel(x_ptr, y_ptr, count, dim, N, BLOCK: tl.constexpr, BLOCK_N: tl.constexpr):
    group = tl.program_id(0) % count
    c = tl.arange(0, BLOCK)
    n = tl.arange(0, BLOCK_N)
    channel = group * dim + c
    there = (channel[:, None] < N) and (n[None, :] < N)
    place = tl.program_id(0) * dim * N + c[:, None] * N + n[None, :]
    x = tl.load(x_ptr + place, mask=there, other=0.0)
    mean = tl.sum(x) / (dim * N)
    tl.store(y_ptr + place, x - mean, mask=there)


def centred_groups(x, count):
    images, N, _ = x.shape
    y = torch.empty_like(x)
    dim = triton.cdiv(N, count)
    block, wide = triton.next_power_of_2(dim), triton.next_power_of_2(N)
    centred_groups_kernel[(images * count,)](x, y, count, dim, N, BLOCK=block, BLOCK_N=wide)
    return y
