"""Rows chosen by a table, and sums in two stages."""

import torch
import triton
import triton.language as tl


@triton.jit
def embedding_kernel(ids_ptr, table_ptr, out_ptr, n_ids, dim, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    ids = tl.load(ids_ptr + rows, mask=rows < n_ids, other=0)
    mask = (rows < n_ids)[:, None] & (columns < dim)[None, :]
    values = tl.load(table_ptr + ids[:, None] * dim + columns[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + rows[:, None] * dim + columns[None, :], values, mask=mask)


@triton.jit
def partial_sum_kernel(x_ptr, partial_ptr, n, BLOCK: tl.constexpr):
    part = tl.program_id(0)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial_ptr + part, tl.sum(tl.load(x_ptr + offsets, mask=offsets < n, other=0.0), axis=0))


@triton.jit
def total_kernel(partial_ptr, out_ptr, parts, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(partial_ptr + offsets, mask=offsets < parts, other=0.0), axis=0))


def total(x):
    n = x.numel()
    block = 64
    parts = triton.cdiv(n, block)
    partial = torch.empty((parts,), dtype=torch.float32)
    out = torch.empty((1,), dtype=torch.float32)
    partial_sum_kernel[(parts,)](x, partial, n, BLOCK=block)
    total_kernel[(1,)](partial, out, parts, BLOCK=triton.next_power_of_2(parts))
    return out
