"""residual += x; out = rms_norm(residual) * weight, written by hand: short rows on chip, long rows in two passes."""

import triton
import triton.language as tl


@triton.jit
def add_rms_norm_resident(
    x_ptr,
    residual_ptr,
    weight_ptr,
    out_ptr,
    eps,
    N,
    stride_x_row,
    stride_x_col,
    stride_residual_row,
    stride_residual_col,
    stride_weight,
    stride_out_row,
    stride_out_col,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    residual_row = residual_ptr + row * stride_residual_row + columns * stride_residual_col
    x = tl.load(x_ptr + row * stride_x_row + columns * stride_x_col, mask=mask, other=0.0).to(tl.float32)
    total = (x + tl.load(residual_row, mask=mask, other=0.0).to(tl.float32)).to(tl.bfloat16)
    tl.store(residual_row, total, mask=mask)
    v = total.to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / N + eps)
    w = tl.load(weight_ptr + columns * stride_weight, mask=mask).to(tl.float32)
    tl.store(out_ptr + row * stride_out_row + columns * stride_out_col, (v * scale * w).to(tl.bfloat16), mask=mask)


@triton.jit
def add_rms_norm_streamed(
    x_ptr,
    residual_ptr,
    weight_ptr,
    out_ptr,
    eps,
    N,
    stride_x_row,
    stride_x_col,
    stride_residual_row,
    stride_residual_col,
    stride_weight,
    stride_out_row,
    stride_out_col,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x_row
    residual_row = residual_ptr + row * stride_residual_row
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        x = tl.load(x_row + columns * stride_x_col, mask=mask, other=0.0).to(tl.float32)
        residual = residual_row + columns * stride_residual_col
        total = (x + tl.load(residual, mask=mask, other=0.0).to(tl.float32)).to(tl.bfloat16)
        tl.store(residual, total, mask=mask)
        squares += total.to(tl.float32) * total.to(tl.float32)
    scale = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        v = tl.load(residual_row + columns * stride_residual_col, mask=mask).to(tl.float32)
        w = tl.load(weight_ptr + columns * stride_weight, mask=mask).to(tl.float32)
        out = (v * scale * w).to(tl.bfloat16)
        tl.store(out_ptr + row * stride_out_row + columns * stride_out_col, out, mask=mask)


def add_rms_norm(x, residual, weight, eps, out, resident=True):
    M, N = x.shape
    kernel = add_rms_norm_resident if resident else add_rms_norm_streamed
    block = triton.next_power_of_2(N) if resident else 16
    strides = (*x.stride(), *residual.stride(), *weight.stride(), *out.stride())
    kernel[(M,)](x, residual, weight, out, eps, N, *strides, BLOCK=block)
