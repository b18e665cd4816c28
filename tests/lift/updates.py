"""Atomic updates: totals of all programs, a maximum, gradients of gathered rows, counts."""

import torch
import triton
import triton.language as tl


@triton.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x * x, axis=0))


def total(x):
    n = x.numel()
    made = torch.zeros((1,), dtype=torch.float32)
    total_kernel[(triton.cdiv(n, 256),)](x, made, n, BLOCK=256)
    return made


@triton.jit
def bias_gradient_kernel(grad_ptr, bias_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (m[:, None] < M) & (n[None, :] < N)
    grad = tl.load(grad_ptr + m[:, None] * N + n[None, :], mask=inside, other=0.0)
    tl.atomic_add(bias_ptr + n, tl.sum(grad, axis=0), mask=n < N)


def bias_gradient(grad):
    M, N = grad.shape
    bias = torch.zeros((N,), dtype=torch.float32)

    def grid(meta):
        return (triton.cdiv(M, meta["BLOCK_M"]), triton.cdiv(N, meta["BLOCK_N"]))

    bias_gradient_kernel[grid](grad, bias, M, N, BLOCK_M=32, BLOCK_N=64)
    return bias


@triton.jit
def largest_kernel(x_ptr, peak_ptr, M, N, BLOCK: tl.constexpr):
    m = tl.program_id(0)
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        tl.atomic_max(peak_ptr + n, tl.load(x_ptr + m * N + n, mask=n < N, other=0.0), mask=n < N)


def largest(x, peak):
    M, N = x.shape
    largest_kernel[(M,)](x, peak, M, N, BLOCK=128)


@triton.jit
def embedding_gradient_kernel(grad_ptr, ids_ptr, table_ptr, n_ids, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    i = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    j = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ids = tl.load(ids_ptr + i, mask=i < n_ids, other=0)
    mask = (i[:, None] < n_ids) & (j[None, :] < dim)
    grad = tl.load(grad_ptr + i[:, None] * dim + j[None, :], mask=mask, other=0.0)
    tl.atomic_add(table_ptr + ids[:, None] * dim + j[None, :], grad, mask=mask)


def embedding_gradient(grad, ids, table):
    n_ids, dim = grad.shape

    def grid(meta):
        return (triton.cdiv(n_ids, meta["BLOCK_M"]), triton.cdiv(dim, meta["BLOCK_N"]))

    embedding_gradient_kernel[grid](grad, ids, table, n_ids, dim, BLOCK_M=16, BLOCK_N=64)


@triton.jit
def count_kernel(ids_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + i, mask=i < n, other=0)
    tl.atomic_add(counts_ptr + ids, 1, mask=i < n)


def count(ids, bins):
    n = ids.numel()
    counts = torch.zeros((bins,), dtype=torch.int32)
    count_kernel[(triton.cdiv(n, 256),)](ids, counts, n, BLOCK=256)
    return counts
