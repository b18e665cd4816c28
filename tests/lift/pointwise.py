"""Pointwise kernels: a scalar, a helper, a strided activation, a flattened two-dimensional one, in place."""

import torch
import triton
import triton.language as tl


@triton.jit
def saxpy_kernel(a, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(y_ptr + offsets, a * tl.load(x_ptr + offsets, mask=mask) + y, mask=mask)


def saxpy(a, x, y):
    n = x.numel()
    saxpy_kernel[(triton.cdiv(n, 256),)](a, x, y, n, BLOCK=256)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    gate_ptr += row * stride
    up_ptr += row * stride
    out_ptr += row * stride
    columns = tl.arange(0, BLOCK_SIZE)
    mask = columns < n_cols
    gate = tl.load(gate_ptr + columns, mask=mask, other=0).to(tl.float32)
    up = tl.load(up_ptr + columns, mask=mask, other=0)
    tl.store(out_ptr + columns, silu(gate).to(up.dtype) * up, mask=mask)


def swiglu(gate, up):
    n_rows, n_cols = gate.shape
    out = torch.empty_like(gate)
    swiglu_kernel[(n_rows,)](gate, up, out, gate.stride(0), n_cols=n_cols, BLOCK_SIZE=triton.next_power_of_2(n_cols))
    return out


@triton.jit
def leaky_kernel(x_ptr, out_ptr, slope, M, N, stride_xm, stride_xn, stride_om, stride_on, B: tl.constexpr):
    m = tl.program_id(1)
    n = tl.program_id(0) * B + tl.arange(0, B)
    inside = (m < M) & (n < N)
    x = tl.load(x_ptr + m * stride_xm + n * stride_xn, mask=inside, other=0.0)
    tl.store(out_ptr + m * stride_om + n * stride_on, tl.where(x >= 0, x, slope * x), mask=inside)


def leaky(x, slope):
    M, N = x.shape
    out = torch.empty_like(x)

    def grid(meta):
        return (triton.cdiv(N, meta["B"]), M)

    leaky_kernel[grid](x, out, slope, M, N, x.stride(0), x.stride(1), out.stride(0), out.stride(1), B=128)
    return out


@triton.jit
def add_bias_kernel(x_ptr, bias_ptr, out_ptr, numel, N, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < numel
    bias = tl.load(bias_ptr + offsets % N, mask=mask)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + bias, mask=mask)


@triton.jit
def low_bits_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    bits = tl.load(x_ptr + offsets, mask=mask).to(tl.int32)
    tl.store(out_ptr + offsets, (bits >> 2 & 5 | 8) ^ (bits & 0), mask=mask)


def low_bits(x, out):
    n = x.numel()
    low_bits_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
