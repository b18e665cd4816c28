"""Block pointers and tensor descriptors."""

import torch
import triton
import triton.language as tl


@triton.jit
def window_matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    a_window = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (m, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_window = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, n), (BLOCK_K, BLOCK_N), (1, 0))
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _k in range(0, K, BLOCK_K):
        a = tl.load(a_window, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_window, boundary_check=(0, 1), padding_option="zero")
        total = tl.dot(a, b, total, input_precision="ieee")
        a_window = tl.advance(a_window, (0, BLOCK_K))
        b_window = tl.advance(b_window, (BLOCK_K, 0))
    c_window = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_window, total.to(c_ptr.dtype.element_ty), boundary_check=(0, 1))


def window_matmul(a, b):
    M, K = a.shape
    K, N = b.shape
    c = torch.empty((M, N), dtype=torch.float32)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    window_matmul_kernel[grid](a, b, c, M, N, K, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
    return c


@triton.jit
def descriptor_scale_kernel(x_ptr, y_ptr, factor, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    x = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    y = tl.make_tensor_descriptor(y_ptr, shape=[M, N], strides=[N, 1], block_shape=[BLOCK_M, BLOCK_N])
    y.store([m, n], x.load([m, n]) * factor)


def descriptor_scale(x, y, factor):
    M, N = x.shape
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
    descriptor_scale_kernel[grid](x, y, factor, M, N, BLOCK_M=32, BLOCK_N=64)


@triton.jit
def chunk_scan_kernel(gates_ptr, sums_ptr, T, D, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    chunk = tl.program_id(0)
    d = tl.program_id(1)
    head = tl.program_id(2)
    gates = tl.make_block_ptr(
        gates_ptr + head * T * D, (T, D), (D, 1), (chunk * CHUNK, d * BLOCK), (CHUNK, BLOCK), (1, 0)
    )
    sums = tl.make_block_ptr(
        sums_ptr + head * T * D, (T, D), (D, 1), (chunk * CHUNK, d * BLOCK), (CHUNK, BLOCK), (1, 0)
    )
    g = tl.load(gates, boundary_check=(0, 1)).to(tl.float32)
    tl.store(sums, tl.cumsum(g, axis=0), boundary_check=(0, 1))


def chunk_scan(gates):
    H, T, D = gates.shape
    sums = torch.empty_like(gates)

    def grid(meta):
        return (triton.cdiv(T, meta["CHUNK"]), triton.cdiv(D, meta["BLOCK"]), H)

    chunk_scan_kernel[grid](gates, sums, T, D, CHUNK=64, BLOCK=32)
    return sums
