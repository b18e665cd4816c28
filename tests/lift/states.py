"""Recurrences that stay loops: gated states, a smoothed series, a matrix state, the longest run, running statistics."""

import torch
import triton
import triton.language as tl


@triton.jit
def gated_scan_kernel(x_ptr, gate_ptr, start_ptr, out_ptr, last_ptr, T, D, BLOCK: tl.constexpr):
    batch = tl.program_id(1)
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    h = tl.load(start_ptr + batch * D + d, mask=mask, other=0.0)
    for t in range(T):
        place = batch * T * D + t * D + d
        x = tl.load(x_ptr + place, mask=mask, other=0.0)
        gate = tl.load(gate_ptr + place, mask=mask, other=0.0)
        h = tl.exp(gate) * h + x
        tl.store(out_ptr + place, h, mask=mask)
    tl.store(last_ptr + batch * D + d, h, mask=mask)


def gated_scan(x, gate, start):
    B, T, D = x.shape
    out = torch.empty_like(x)
    last = torch.empty_like(start)

    def grid(meta):
        return (triton.cdiv(D, meta["BLOCK"]), B)

    gated_scan_kernel[grid](x, gate, start, out, last, T, D, BLOCK=128)
    return out, last


@triton.jit
def smoothing_kernel(x_ptr, y_ptr, weight, n):
    row = tl.program_id(0)
    level = tl.load(x_ptr + row * n)
    for t in range(n):
        level = weight * tl.load(x_ptr + row * n + t) + (1.0 - weight) * level
        tl.store(y_ptr + row * n + t, level)


def smoothing(x, y, weight):
    m, n = x.shape
    smoothing_kernel[(m,)](x, y, weight, n)


@triton.jit
def backward_scan_kernel(grad_ptr, decay_ptr, out_ptr, T, D, BLOCK: tl.constexpr):
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    state = tl.zeros((BLOCK,), tl.float32)
    for t in range(T - 1, -1, -1):
        state += tl.load(grad_ptr + t * D + d, mask=mask, other=0.0)
        tl.store(out_ptr + t * D + d, state, mask=mask)
        state *= tl.load(decay_ptr + t * D + d, mask=mask, other=0.0)


@triton.jit
def linear_attention_kernel(q_ptr, k_ptr, v_ptr, out_ptr, T, DK, DV, BLOCK_K: tl.constexpr, BLOCK_V: tl.constexpr):
    head = tl.program_id(1)
    k = tl.arange(0, BLOCK_K)
    v = tl.program_id(0) * BLOCK_V + tl.arange(0, BLOCK_V)
    state = tl.zeros((BLOCK_K, BLOCK_V), tl.float32)
    for t in range(T):
        key = tl.load(k_ptr + (head * T + t) * DK + k, mask=k < DK, other=0.0)
        value = tl.load(v_ptr + (head * T + t) * DV + v, mask=v < DV, other=0.0)
        query = tl.load(q_ptr + (head * T + t) * DK + k, mask=k < DK, other=0.0)
        held = tl.sum(key[:, None] * state, 0)
        state += key[:, None] * (value - held)[None, :]
        tl.store(out_ptr + (head * T + t) * DV + v, tl.sum(query[:, None] * state, 0), mask=v < DV)


def linear_attention(q, k, v, out):
    H, T, DK = q.shape
    DV = v.shape[2]
    grid = (triton.cdiv(DV, 32), H)
    linear_attention_kernel[grid](q, k, v, out, T, DK, DV, BLOCK_K=triton.next_power_of_2(DK), BLOCK_V=32)


@triton.jit
def longest_run_kernel(x_ptr, out_ptr, n):
    row = tl.program_id(0)
    run = 0
    longest = 0
    for i in range(n):
        x = tl.load(x_ptr + row * n + i)
        run = tl.where(x > 0.0, run + 1, 0)
        longest = tl.maximum(longest, run)
    tl.store(out_ptr + row, longest)


def longest_run(x):
    m, n = x.shape
    out = torch.empty((m,), dtype=torch.int32)
    longest_run_kernel[(m,)](x, out, n)
    return out


@triton.jit
def welford_kernel(x_ptr, mean_ptr, var_ptr, N):
    row = tl.program_id(0)
    mean = 0.0
    squares = 0.0
    count = 0.0
    for i in range(N):
        x = tl.load(x_ptr + row * N + i)
        count += 1.0
        delta = x - mean
        mean += delta / count
        squares += delta * (x - mean)
    tl.store(mean_ptr + row, mean)
    tl.store(var_ptr + row, squares / N)


def welford(x, mean, var):
    M, N = x.shape
    welford_kernel[(M,)](x, mean, var, N)


@triton.jit
def running_in_place_kernel(x_ptr, N):
    row = tl.program_id(0)
    total = 0.0
    for t in range(N):
        total += tl.load(x_ptr + row * N + t)
        tl.store(x_ptr + row * N + t, total)


def running_in_place(x):
    M, N = x.shape
    running_in_place_kernel[(M,)](x, N)
