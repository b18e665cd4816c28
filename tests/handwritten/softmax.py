"""Softmax of scaled rows, written by hand: short rows stay on chip, long rows are read three times."""

import triton
import triton.language as tl


@triton.jit
def softmax_resident(
    x_ptr, out_ptr, scale, N, stride_x_row, stride_x_col, stride_out_row, stride_out_col, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    v = tl.load(x_ptr + row * stride_x_row + columns * stride_x_col, mask=mask, other=0.0) * scale
    v = tl.where(mask, v, -float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    out = tl.div_rn(e, tl.sum(e, axis=0))
    tl.store(out_ptr + row * stride_out_row + columns * stride_out_col, out, mask=mask)


@triton.jit
def softmax_streamed(
    x_ptr, out_ptr, scale, N, stride_x_row, stride_x_col, stride_out_row, stride_out_col, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x_row
    out_row = out_ptr + row * stride_out_row

    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        v = tl.load(x_row + columns * stride_x_col, mask=columns < N, other=0.0) * scale
        largest = tl.maximum(largest, tl.where(columns < N, v, -float("inf")))
    row_max = tl.max(largest, axis=0)

    mass = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        v = tl.load(x_row + columns * stride_x_col, mask=columns < N, other=0.0) * scale
        mass += tl.where(columns < N, tl.exp(v - row_max), 0.0)
    row_sum = tl.sum(mass, axis=0)

    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        v = tl.load(x_row + columns * stride_x_col, mask=mask) * scale
        tl.store(out_row + columns * stride_out_col, tl.div_rn(tl.exp(v - row_max), row_sum), mask=mask)


def softmax(x, scale, out, resident=True):
    M, N = x.shape
    kernel = softmax_resident if resident else softmax_streamed
    block = triton.next_power_of_2(N) if resident else 16
    kernel[(M,)](x, out, scale, N, *x.stride(), *out.stride(), BLOCK=block)
