"""Sequences in chunks that are computed on their own: the chunk is seen in the results."""

import triton
import triton.language as tl


@triton.jit
def decay_sums_kernel(decay_ptr, sums_ptr, T, H: tl.constexpr, CHUNK: tl.constexpr):
    pid = tl.program_id(0)
    chunk, head = pid // H, pid % H
    t = chunk * CHUNK + tl.arange(0, CHUNK)
    place = t * H + head
    decay = tl.load(decay_ptr + place, mask=t < T, other=0.0)
    tl.store(sums_ptr + place, tl.cumsum(decay, axis=0), mask=t < T)


@triton.jit
def chunk_states_kernel(x_ptr, gate_ptr, out_ptr, T, D, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    chunk = tl.program_id(1)
    batch = tl.program_id(2)
    place = batch * T * D + chunk * CHUNK * D + d
    h = tl.zeros((BLOCK,), tl.float32)
    for i in range(CHUNK):
        mask = (d < D) & (chunk * CHUNK + i < T)
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        gate = tl.load(gate_ptr + place, mask=mask, other=0.0)
        h = tl.sigmoid(gate) * h + x
        tl.store(out_ptr + place, h, mask=mask)
        place += D


@triton.jit
def chunk_totals_kernel(x_ptr, totals_ptr, N, parts, CHUNK: tl.constexpr):
    chunk = tl.program_id(0)
    row = tl.program_id(1)
    n = chunk * CHUNK + tl.arange(0, CHUNK)
    x = tl.load(x_ptr + row * N + n, mask=n < N, other=0.0)
    tl.store(totals_ptr + row * parts + chunk, tl.sum(x, axis=0))


def chunk_totals(x, totals):
    M, N = x.shape
    parts = triton.cdiv(N, 64)
    chunk_totals_kernel[(parts, M)](x, totals, N, parts, CHUNK=64)
