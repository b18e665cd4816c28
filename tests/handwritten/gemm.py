"""c = a @ b, f16 in and out, written by hand: neighbouring programs share columns of b while they are in the cache."""

import triton
import triton.language as tl


@triton.jit
def gemm_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_a_m,
    stride_a_k,
    stride_b_k,
    stride_b_n,
    stride_c_m,
    stride_c_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    program = tl.program_id(0)
    blocks_m = tl.cdiv(M, BLOCK_M)
    programs_per_group = GROUP_M * tl.cdiv(N, BLOCK_N)
    group = program // programs_per_group
    group_size = min(blocks_m - group * GROUP_M, GROUP_M)
    block_m = group * GROUP_M + program % programs_per_group % group_size
    block_n = program % programs_per_group // group_size

    m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    accumulator = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (m[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (n[None, :] < N)
        a = tl.load(a_ptr + m[:, None] * stride_a_m + k[None, :] * stride_a_k, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * stride_b_k + n[None, :] * stride_b_n, mask=b_mask, other=0.0)
        accumulator = tl.dot(a, b, accumulator)
    c_mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c_ptr + m[:, None] * stride_c_m + n[None, :] * stride_c_n, accumulator.to(tl.float16), mask=c_mask)


def gemm(a, b, c):
    M, K = a.shape
    N = b.shape[1]
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16),)
    strides = (*a.stride(), *b.stride(), *c.stride())
    gemm_kernel[grid](a, b, c, M, N, K, *strides, BLOCK_M=16, BLOCK_N=16, BLOCK_K=32, GROUP_M=8)
