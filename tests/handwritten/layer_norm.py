"""Layer normalisation that keeps its statistics, written by hand: short rows on chip, long rows in three passes."""

import triton
import triton.language as tl


@triton.jit
def layer_norm_resident(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    mean_ptr,
    inverse_deviation_ptr,
    eps,
    N,
    stride_x_row,
    stride_x_col,
    stride_weight,
    stride_bias,
    stride_out_row,
    stride_out_col,
    stride_mean,
    stride_inverse_deviation,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    mask = columns < N
    v = tl.load(x_ptr + row * stride_x_row + columns * stride_x_col, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / N
    centred = tl.where(mask, v - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    w = tl.load(weight_ptr + columns * stride_weight, mask=mask)
    b = tl.load(bias_ptr + columns * stride_bias, mask=mask)
    tl.store(out_ptr + row * stride_out_row + columns * stride_out_col, centred * scale * w + b, mask=mask)
    tl.store(mean_ptr + row * stride_mean, mean)
    tl.store(inverse_deviation_ptr + row * stride_inverse_deviation, scale)


@triton.jit
def layer_norm_streamed(
    x_ptr,
    weight_ptr,
    bias_ptr,
    out_ptr,
    mean_ptr,
    inverse_deviation_ptr,
    eps,
    N,
    stride_x_row,
    stride_x_col,
    stride_weight,
    stride_bias,
    stride_out_row,
    stride_out_col,
    stride_mean,
    stride_inverse_deviation,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    x_row = x_ptr + row * stride_x_row
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_row + columns * stride_x_col, mask=columns < N, other=0.0)
    mean = tl.sum(total, axis=0) / N

    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        centred = tl.load(x_row + columns * stride_x_col, mask=columns < N, other=0.0) - mean
        squares += tl.where(columns < N, centred * centred, 0.0)
    scale = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)

    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < N
        centred = tl.load(x_row + columns * stride_x_col, mask=mask) - mean
        w = tl.load(weight_ptr + columns * stride_weight, mask=mask)
        b = tl.load(bias_ptr + columns * stride_bias, mask=mask)
        tl.store(out_ptr + row * stride_out_row + columns * stride_out_col, centred * scale * w + b, mask=mask)
    tl.store(mean_ptr + row * stride_mean, mean)
    tl.store(inverse_deviation_ptr + row * stride_inverse_deviation, scale)


def layer_norm(x, weight, bias, eps, out, mean, inverse_deviation, resident=True):
    M, N = x.shape
    kernel = layer_norm_resident if resident else layer_norm_streamed
    block = triton.next_power_of_2(N) if resident else 16
    arrays = (x, weight, bias, out, mean, inverse_deviation)
    strides = [stride for array in arrays for stride in array.stride()]
    kernel[(M,)](*arrays, eps, N, *strides, BLOCK=block)
