"""out = x transposed, written by hand: loads run along the rows of x, stores along the rows of out."""

import triton
import triton.language as tl


@triton.jit
def transpose_kernel(
    x_ptr,
    out_ptr,
    M,
    N,
    stride_x_m,
    stride_x_n,
    stride_out_n,
    stride_out_m,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    blocks_m = tl.cdiv(M, BLOCK_M)
    m = (tl.program_id(0) % blocks_m * BLOCK_M + tl.arange(0, BLOCK_M)).to(tl.int64)
    n = (tl.program_id(0) // blocks_m * BLOCK_N + tl.arange(0, BLOCK_N)).to(tl.int64)
    x_mask = (m[:, None] < M) & (n[None, :] < N)
    x = tl.load(x_ptr + m[:, None] * stride_x_m + n[None, :] * stride_x_n, mask=x_mask)
    out_mask = (n[:, None] < N) & (m[None, :] < M)
    tl.store(out_ptr + n[:, None] * stride_out_n + m[None, :] * stride_out_m, tl.trans(x), mask=out_mask)


def transpose(x, out):
    M, N = x.shape
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16),)
    transpose_kernel[grid](x, out, M, N, *x.stride(), *out.stride(), BLOCK_M=16, BLOCK_N=16)
