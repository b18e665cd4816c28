"""out = gelu_tanh(x @ w.T + bias), bf16 in and out, written by hand."""

import triton
import triton.language as tl


@triton.jit
def gemm_bias_gelu_kernel(
    x_ptr,
    w_ptr,
    bias_ptr,
    out_ptr,
    M,
    N,
    K,
    stride_x_m,
    stride_x_k,
    stride_w_n,
    stride_w_k,
    stride_bias,
    stride_out_m,
    stride_out_n,
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
        x_mask = (m[:, None] < M) & (k[None, :] < K)
        w_mask = (k[:, None] < K) & (n[None, :] < N)
        x = tl.load(x_ptr + m[:, None] * stride_x_m + k[None, :] * stride_x_k, mask=x_mask, other=0.0)
        w = tl.load(w_ptr + k[:, None] * stride_w_k + n[None, :] * stride_w_n, mask=w_mask, other=0.0)
        accumulator = tl.dot(x, w, accumulator)

    bias = tl.load(bias_ptr + n * stride_bias, mask=n < N, other=0.0).to(tl.float32)
    t = accumulator + bias[None, :]
    inner = 0.7978845608028654 * (t + 0.044715 * t * t * t)
    tanh = 2.0 * tl.sigmoid(2.0 * inner) - 1.0
    out = (0.5 * t * (1.0 + tanh)).to(tl.bfloat16)
    out_mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(out_ptr + m[:, None] * stride_out_m + n[None, :] * stride_out_n, out, mask=out_mask)


def gemm_bias_gelu(x, w, bias, out):
    M, K = x.shape
    N = w.shape[0]
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16),)
    strides = (*x.stride(), *w.stride(), *bias.stride(), *out.stride())
    gemm_bias_gelu_kernel[grid](x, w, bias, out, M, N, K, *strides, BLOCK_M=16, BLOCK_N=16, BLOCK_K=32, GROUP_M=8)
