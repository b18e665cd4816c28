"""Sum of every column, written by hand: a block of neighbouring columns, rows streamed."""

import triton
import triton.language as tl


@triton.jit
def column_sum_kernel(
    x_ptr, out_ptr, M, N, stride_x_m, stride_x_n, stride_out, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    n = tl.program_id(0).to(tl.int64) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, M, BLOCK_M):
        m = (start + tl.arange(0, BLOCK_M)).to(tl.int64)
        mask = (m[:, None] < M) & (n[None, :] < N)
        total += tl.load(x_ptr + m[:, None] * stride_x_m + n[None, :] * stride_x_n, mask=mask, other=0.0)
    tl.store(out_ptr + n * stride_out, tl.sum(total, axis=0), mask=n < N)


def column_sum(x, out):
    M, N = x.shape
    column_sum_kernel[(triton.cdiv(N, 16),)](x, out, M, N, *x.stride(), *out.stride(), BLOCK_M=8, BLOCK_N=16)
