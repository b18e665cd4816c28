"""Triton module for mamba_chunks.py, written by intentc; change the Intent source, not this file.

A selective state space model (Mamba-2) in chunks of the sequence, three launches:

    chunk_state     what each chunk alone would leave in the state
    state_passing   the state before each chunk, and after the last
    chunk_scan      the outputs: what lies before the chunk through the state, what lies within through a product

`decay[b, h, c, l]` is the sum of the logarithms of the decays of chunk c up to and including position l.

chunk_state(x[B, C, L, H, P] f16, entry[B, C, L, N] f16, decay[B, H, C, L] f32) -> states[B, C, H, P, N] f32
    states[b, c, h, :, :] = I.matmul(weighted, entry[b, c, inside, :], transpose_lhs=True, acc_dtype=I.f32)
    Plan    one program per b x c x h x 16 p x 32 n; streamed: 128 inside
    Plan    one program per b x c x h x 64 p x 128 n; streamed: 64 inside
    Plan    one program per b x c x h x 128 p x 128 n; streamed: 64 inside
    Traffic reads x, decay, entry; writes states

state_passing(states[B, C, H, P, N] f32, decay[B, H, C, L] f32) -> before[B, C, H, P, N] f32, last[B, H, P, N] f32
    before[b, c, h, p, :] = state
    last[b, h, p, :] = state
    Plan    one program per b x h x 16 p x 64 n
    Plan    one program per b x h x 8 p x 128 n
    Plan    one program per b x h x p x 1024 n
    Traffic reads decay, states; writes before, last

chunk_scan(x[B, C, L, H, P] f16, entry[B, C, L, N] f16, readout[B, C, L, N] f16, decay[B, H, C, L] f32, before[B, C,
    H, P, N] f32) -> out[B, C, L, H, P] f16
    out[b, c, rows, h, :] = I.cast(through + within, I.f16)
    Plan    one program per b x c x h x 64 rows x 64 p; on chip: n; streamed: 64 columns
    Plan    one program per b x c x h x 64 rows x 64 p; streamed: 32 n, 64 columns
    Traffic reads readout, before, decay, entry, x; writes out

Targets cuda:90 cuda:80 hip:gfx942
"""

import collections
import contextlib
import functools
import itertools
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

__all__ = [
    "chunk_state",
    "chunk_state_out",
    "chunk_state_device",
    "chunk_state_device_out",
    "state_passing",
    "state_passing_out",
    "state_passing_device",
    "state_passing_device_out",
    "chunk_scan",
    "chunk_scan_out",
    "chunk_scan_device",
    "chunk_scan_device_out",
]


@triton.jit
def _exp(x):
    # tl.exp loses digits for large |x|, because it rounds x * log2(e) to float32. Here exp(x) = 2**n * exp(r) with
    # r = x - n * ln(2); ln(2) is in two parts, the first short enough for an exact product.
    small = x < -86.0
    x = tl.maximum(tl.minimum(x, 89.0, propagate_nan=tl.PropagateNan.ALL), -105.0, propagate_nan=tl.PropagateNan.ALL)
    shifted = x * 1.4426950408889634 + 12582912.0  # adding 1.5 * 2**23 rounds to an integer
    n = shifted - 12582912.0
    r = (x - n * 0.693359375) + n * 2.1219444005469058e-4
    p = 0.00139269186 * r + 0.0083637666
    p = p * r + 0.0416665487
    p = p * r + 0.166665733
    p = p * r + 0.5
    p = 2.0 + 2.0 * (r + r * r * p)
    # 2**(n - 1), since 2**n may be out of range; where that is too small, 2**(n + 63)
    exponent = (shifted.to(tl.int32, bitcast=True) << 23) + tl.where(small, 190 << 23, 126 << 23)
    return p * exponent.to(tl.float32, bitcast=True) * tl.where(small, 5.421010862427522e-20, 1.0)


@triton.jit(do_not_specialize=["C", "H"])
def chunk_state_kernel(
    x_ptr, entry_ptr, decay_ptr, states_ptr,
    C, L, H, P, N,
    stride_x_b, stride_x_c, stride_x_l, stride_x_h, stride_x_p, stride_entry_b, stride_entry_c, stride_entry_l,
    stride_entry_n, stride_decay_b, stride_decay_h, stride_decay_c, stride_decay_l, stride_states_b, stride_states_c,
    stride_states_h, stride_states_p, stride_states_n,
    BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_INSIDE: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    stride_decay_l = tl.cast(stride_decay_l, INDEX)
    pid = tl.program_id(0).to(INDEX)
    p_tiles = tl.cdiv(P, BLOCK_P)
    n_tiles = tl.cdiv(N, BLOCK_N)
    tile = pid % (n_tiles * p_tiles)
    # 8 rows of tiles at a time: programs that run together share columns in the L2 cache.
    group_start = tile // (n_tiles * 8) * 8
    within_group = tile % (n_tiles * 8)
    group_rows = tl.minimum(8, p_tiles - group_start)
    p = (group_start + within_group % group_rows) * BLOCK_P + tl.arange(0, BLOCK_P)
    p_mask = p < P
    n = within_group // group_rows * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = n < N
    pid //= n_tiles * p_tiles
    h = pid % H
    pid //= H
    c = pid % C
    b = pid // C
    acc = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    decay_at_c = decay_ptr + b * stride_decay_b + h * stride_decay_h + c * stride_decay_c
    decay_2 = tl.load(decay_at_c + (L - 1) * stride_decay_l, mask=L - 1 >= 0, other=0.0)
    for start_inside in range(0, L, BLOCK_INSIDE):
        inside = start_inside + tl.arange(0, BLOCK_INSIDE).to(INDEX)
        inside_mask = inside < L
        decay = tl.load(decay_at_c + inside * stride_decay_l, mask=inside_mask)
        x_ptrs = (
            x_ptr
            + b * stride_x_b
            + c * stride_x_c
            + inside[None, :] * stride_x_l
            + h * stride_x_h
            + p[:, None] * stride_x_p
        )
        x = tl.load(x_ptrs, mask=p_mask[:, None] & inside_mask[None, :]).to(tl.float32)
        entry_ptrs = (
            entry_ptr
            + b * stride_entry_b
            + c * stride_entry_c
            + inside[:, None] * stride_entry_l
            + n[None, :] * stride_entry_n
        )
        entry = tl.load(entry_ptrs, mask=inside_mask[:, None] & n_mask[None, :], other=0.0)
        rest = _exp(decay_2 - decay)
        weighted = (x * rest[None, :]).to(tl.float16)
        acc = tl.dot(tl.where(inside_mask[None, :], weighted, 0.0), entry, acc)
    states_ptrs = (
        states_ptr
        + b * stride_states_b
        + c * stride_states_c
        + h * stride_states_h
        + p[:, None] * stride_states_p
        + n[None, :] * stride_states_n
    )
    tl.store(states_ptrs, acc, mask=p_mask[:, None] & n_mask[None, :])  # mamba_chunks.py:36


@triton.jit(do_not_specialize=["C", "H", "P"])
def state_passing_kernel(
    states_ptr, decay_ptr, before_ptr, last_ptr,
    C, H, P, N, L,
    stride_states_b, stride_states_c, stride_states_h, stride_states_p, stride_states_n, stride_decay_b, stride_decay_h,
    stride_decay_c, stride_decay_l, stride_before_b, stride_before_c, stride_before_h, stride_before_p, stride_before_n,
    stride_last_b, stride_last_h, stride_last_p, stride_last_n,
    BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    stride_decay_l = tl.cast(stride_decay_l, INDEX)
    pid = tl.program_id(0).to(INDEX)
    p_tiles = tl.cdiv(P, BLOCK_P)
    n_tiles = tl.cdiv(N, BLOCK_N)
    n = pid % n_tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    pid //= n_tiles
    p = pid % p_tiles * BLOCK_P + tl.arange(0, BLOCK_P)
    pid //= p_tiles
    h = pid % H
    b = pid // H
    mask = (p[:, None] < P) & (n[None, :] < N)
    state = tl.zeros((BLOCK_P, BLOCK_N), tl.float32)
    for c in tl.range(tl.cast(C, INDEX), num_stages=3):
        states_ptrs = (
            states_ptr
            + b * stride_states_b
            + c * stride_states_c
            + h * stride_states_h
            + p[:, None] * stride_states_p
            + n[None, :] * stride_states_n
        )
        states = tl.load(states_ptrs, mask=mask)
        decay_ptrs = decay_ptr + b * stride_decay_b + h * stride_decay_h + c * stride_decay_c + (L - 1) * stride_decay_l
        decay = tl.load(decay_ptrs, mask=L - 1 >= 0, other=0.0)
        before_ptrs = (
            before_ptr
            + b * stride_before_b
            + c * stride_before_c
            + h * stride_before_h
            + p[:, None] * stride_before_p
            + n[None, :] * stride_before_n
        )
        tl.store(before_ptrs, state, mask=mask)  # mamba_chunks.py:51
        state = state * _exp(decay) + states
    last_ptrs = (
        last_ptr + b * stride_last_b + h * stride_last_h + p[:, None] * stride_last_p + n[None, :] * stride_last_n
    )
    tl.store(last_ptrs, state, mask=mask)  # mamba_chunks.py:53


@triton.jit(do_not_specialize=["C", "H", "P"])
def state_passing_kernel_1(
    states_ptr, decay_ptr, before_ptr, last_ptr,
    C, H, P, N, L,
    stride_states_b, stride_states_c, stride_states_h, stride_states_p, stride_states_n, stride_decay_b, stride_decay_h,
    stride_decay_c, stride_decay_l, stride_before_b, stride_before_c, stride_before_h, stride_before_p, stride_before_n,
    stride_last_b, stride_last_h, stride_last_p, stride_last_n,
    BLOCK_N: tl.constexpr, INDEX: tl.constexpr,
):  # fmt: skip
    stride_decay_l = tl.cast(stride_decay_l, INDEX)
    pid = tl.program_id(0).to(INDEX)
    n_tiles = tl.cdiv(N, BLOCK_N)
    n = pid % n_tiles * BLOCK_N + tl.arange(0, BLOCK_N)
    n_mask = n < N
    pid //= n_tiles
    p = pid % P
    pid //= P
    h = pid % H
    b = pid // H
    state = tl.zeros((BLOCK_N,), tl.float32)
    for c in tl.range(tl.cast(C, INDEX), num_stages=3):
        states_ptrs = (
            states_ptr
            + b * stride_states_b
            + c * stride_states_c
            + h * stride_states_h
            + p * stride_states_p
            + n * stride_states_n
        )
        states = tl.load(states_ptrs, mask=n_mask)
        decay_ptrs = decay_ptr + b * stride_decay_b + h * stride_decay_h + c * stride_decay_c + (L - 1) * stride_decay_l
        decay = tl.load(decay_ptrs, mask=L - 1 >= 0, other=0.0)
        before_ptrs = (
            before_ptr
            + b * stride_before_b
            + c * stride_before_c
            + h * stride_before_h
            + p * stride_before_p
            + n * stride_before_n
        )
        tl.store(before_ptrs, state, mask=n_mask)  # mamba_chunks.py:51
        state = state * _exp(decay) + states
    last_ptrs = last_ptr + b * stride_last_b + h * stride_last_h + p * stride_last_p + n * stride_last_n
    tl.store(last_ptrs, state, mask=n_mask)  # mamba_chunks.py:53


@triton.jit(do_not_specialize=["C", "H"])
def chunk_scan_resident(
    x_ptr, entry_ptr, readout_ptr, decay_ptr, before_ptr, out_ptr,
    C, L, H, P, N,
    stride_x_b, stride_x_c, stride_x_l, stride_x_h, stride_x_p, stride_entry_b, stride_entry_c, stride_entry_l,
    stride_entry_n, stride_readout_b, stride_readout_c, stride_readout_l, stride_readout_n, stride_decay_b,
    stride_decay_h, stride_decay_c, stride_decay_l, stride_before_b, stride_before_c, stride_before_h, stride_before_p,
    stride_before_n, stride_out_b, stride_out_c, stride_out_l, stride_out_h, stride_out_p,
    BLOCK_ROWS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
    INDEX: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(INDEX)
    rows_tiles = tl.cdiv(L, BLOCK_ROWS)
    p_tiles = tl.cdiv(P, BLOCK_P)
    tile = pid % (p_tiles * rows_tiles)
    # 8 rows of tiles at a time: programs that run together share columns in the L2 cache.
    group_start = tile // (p_tiles * 8) * 8
    within_group = tile % (p_tiles * 8)
    group_rows = tl.minimum(8, rows_tiles - group_start)
    rows = (group_start + within_group % group_rows) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    rows_mask = rows < L
    p = within_group // group_rows * BLOCK_P + tl.arange(0, BLOCK_P)
    p_mask = p < P
    pid //= p_tiles * rows_tiles
    h = pid % H
    pid //= H
    c = pid % C
    b = pid // C
    n = tl.arange(0, BLOCK_N).to(INDEX)
    n_mask = n < N
    within = tl.zeros((BLOCK_ROWS, BLOCK_P), tl.float32)
    decay_at_c = decay_ptr + b * stride_decay_b + h * stride_decay_h + c * stride_decay_c
    readout_ptrs = (
        readout_ptr
        + b * stride_readout_b
        + c * stride_readout_c
        + rows[:, None] * stride_readout_l
        + n[None, :] * stride_readout_n
    )
    read = tl.load(readout_ptrs, mask=rows_mask[:, None] & n_mask[None, :], other=0.0)
    total = tl.load(decay_at_c + rows * stride_decay_l, mask=rows_mask)
    for start_columns in range(0, L, BLOCK_COLUMNS):
        columns = start_columns + tl.arange(0, BLOCK_COLUMNS).to(INDEX)
        columns_mask = columns < L
        entry_ptrs = (
            entry_ptr
            + b * stride_entry_b
            + c * stride_entry_c
            + columns[None, :] * stride_entry_l
            + n[:, None] * stride_entry_n
        )
        entry = tl.load(entry_ptrs, mask=n_mask[:, None] & columns_mask[None, :], other=0.0)
        decay = tl.load(decay_at_c + columns * stride_decay_l, mask=columns_mask)
        x_ptrs = (
            x_ptr
            + b * stride_x_b
            + c * stride_x_c
            + columns[:, None] * stride_x_l
            + h * stride_x_h
            + p[None, :] * stride_x_p
        )
        x = tl.load(x_ptrs, mask=columns_mask[:, None] & p_mask[None, :], other=0.0)
        scores = tl.dot(read, entry)
        scores_2 = scores * _exp(total[:, None] - decay[None, :])
        scores_3 = tl.where(columns[None, :] <= rows[:, None], scores_2, 0.0)
        within = tl.dot(tl.where(columns_mask[None, :], scores_3.to(tl.float16), 0.0), x, within)
    before_ptrs = (
        before_ptr
        + b * stride_before_b
        + c * stride_before_c
        + h * stride_before_h
        + p[None, :] * stride_before_p
        + n[:, None] * stride_before_n
    )
    state = tl.load(before_ptrs, mask=n_mask[:, None] & p_mask[None, :], other=0.0).to(tl.float16)
    through = tl.dot(read, state) * _exp(total[:, None])
    out_ptrs = (
        out_ptr
        + b * stride_out_b
        + c * stride_out_c
        + rows[:, None] * stride_out_l
        + h * stride_out_h
        + p[None, :] * stride_out_p
    )
    tl.store(out_ptrs, (through + within).to(tl.float16), mask=rows_mask[:, None] & p_mask[None, :])


@triton.jit(do_not_specialize=["C", "H"])
def chunk_scan_kernel(
    x_ptr, entry_ptr, readout_ptr, decay_ptr, before_ptr, out_ptr,
    C, L, H, P, N,
    stride_x_b, stride_x_c, stride_x_l, stride_x_h, stride_x_p, stride_entry_b, stride_entry_c, stride_entry_l,
    stride_entry_n, stride_readout_b, stride_readout_c, stride_readout_l, stride_readout_n, stride_decay_b,
    stride_decay_h, stride_decay_c, stride_decay_l, stride_before_b, stride_before_c, stride_before_h, stride_before_p,
    stride_before_n, stride_out_b, stride_out_c, stride_out_l, stride_out_h, stride_out_p,
    BLOCK_ROWS: tl.constexpr, BLOCK_P: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_COLUMNS: tl.constexpr,
    INDEX: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0).to(INDEX)
    rows_tiles = tl.cdiv(L, BLOCK_ROWS)
    p_tiles = tl.cdiv(P, BLOCK_P)
    tile = pid % (p_tiles * rows_tiles)
    # 8 rows of tiles at a time: programs that run together share columns in the L2 cache.
    group_start = tile // (p_tiles * 8) * 8
    within_group = tile % (p_tiles * 8)
    group_rows = tl.minimum(8, rows_tiles - group_start)
    rows = (group_start + within_group % group_rows) * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    rows_mask = rows < L
    p = within_group // group_rows * BLOCK_P + tl.arange(0, BLOCK_P)
    p_mask = p < P
    pid //= p_tiles * rows_tiles
    h = pid % H
    pid //= H
    c = pid % C
    b = pid // C
    within = tl.zeros((BLOCK_ROWS, BLOCK_P), tl.float32)
    decay_at_c = decay_ptr + b * stride_decay_b + h * stride_decay_h + c * stride_decay_c
    total = tl.load(decay_at_c + rows * stride_decay_l, mask=rows_mask)
    readout_rows = readout_ptr + b * stride_readout_b + c * stride_readout_c + rows[:, None] * stride_readout_l

    for start_columns in range(0, L, BLOCK_COLUMNS):
        columns = start_columns + tl.arange(0, BLOCK_COLUMNS).to(INDEX)
        columns_mask = columns < L
        scores = tl.zeros((BLOCK_ROWS, BLOCK_COLUMNS), tl.float32)
        for start_n in range(0, N, BLOCK_N):
            n = start_n + tl.arange(0, BLOCK_N).to(INDEX)
            n_mask = n < N
            readout_mask = rows_mask[:, None] & n_mask[None, :]
            read = tl.load(readout_rows + n[None, :] * stride_readout_n, mask=readout_mask, other=0.0)
            entry_ptrs = (
                entry_ptr
                + b * stride_entry_b
                + c * stride_entry_c
                + columns[None, :] * stride_entry_l
                + n[:, None] * stride_entry_n
            )
            entry = tl.load(entry_ptrs, mask=n_mask[:, None] & columns_mask[None, :], other=0.0)
            scores = tl.dot(read, entry, scores)
        decay = tl.load(decay_at_c + columns * stride_decay_l, mask=columns_mask)
        x_ptrs = (
            x_ptr
            + b * stride_x_b
            + c * stride_x_c
            + columns[:, None] * stride_x_l
            + h * stride_x_h
            + p[None, :] * stride_x_p
        )
        x = tl.load(x_ptrs, mask=columns_mask[:, None] & p_mask[None, :], other=0.0)
        scores_2 = scores * _exp(total[:, None] - decay[None, :])
        scores_3 = tl.where(columns[None, :] <= rows[:, None], scores_2, 0.0)
        within = tl.dot(tl.where(columns_mask[None, :], scores_3.to(tl.float16), 0.0), x, within)

    acc = tl.zeros((BLOCK_ROWS, BLOCK_P), tl.float32)
    for start_n in range(0, N, BLOCK_N):
        n = start_n + tl.arange(0, BLOCK_N).to(INDEX)
        n_mask = n < N
        readout_mask = rows_mask[:, None] & n_mask[None, :]
        read = tl.load(readout_rows + n[None, :] * stride_readout_n, mask=readout_mask, other=0.0)
        before_ptrs = (
            before_ptr
            + b * stride_before_b
            + c * stride_before_c
            + h * stride_before_h
            + p[None, :] * stride_before_p
            + n[:, None] * stride_before_n
        )
        state = tl.load(before_ptrs, mask=n_mask[:, None] & p_mask[None, :], other=0.0).to(tl.float16)
        acc = tl.dot(read, state, acc)
    through = acc * _exp(total[:, None])
    out_ptrs = (
        out_ptr
        + b * stride_out_b
        + c * stride_out_c
        + rows[:, None] * stride_out_l
        + h * stride_out_h
        + p[None, :] * stride_out_p
    )
    tl.store(out_ptrs, (through + within).to(tl.float16), mask=rows_mask[:, None] & p_mask[None, :])


class _View(NamedTuple):
    """An array parameter: name, dtype, extents (numbers or names of sizes), direction."""

    name: str
    dtype: str
    shape: tuple
    direction: str


class _Kernel(NamedTuple):
    """What the wrappers know of a kernel."""

    name: str
    views: tuple
    launch: Callable
    covered: tuple = ()  # outputs that are written in full
    overlap: str = "refuse"  # or same, snapshot: of a written array with another


class _Plan(NamedTuple):
    """A device function, its number of programs and block sizes, and (warps, stages) by vendor."""

    kernel: Callable
    programs: int
    blocks: dict
    cuda: tuple
    hip: tuple


class _Repeat(NamedTuple):
    """How to process arrays of the form that an earlier call had."""

    launch: Callable  # takes tensors and their addresses
    pairs: list  # arrays that may not overlap: positions, distances in bytes at which they do
    outputs: list  # to be allocated: position, shape, dtype, device
    apart: list  # addresses that were compared last


_REPEATS = {}  # by form
_PLAIN = {torch.Tensor, torch.nn.Parameter}
_PACKED = {}  # by form: how to process small arrays like those of an earlier call, unless two of certain pairs overlap
_PACKED_BYTES = 1 << 18


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_POISON = os.getenv("INTENTC_POISON") == "1"  # calls find out what they leave unwritten


def _launch_chunk_state(x, entry, decay, states, B, C, L, H, P, N):
    index = _index_type(x, entry, decay, states)
    if P <= 16:
        plan = _Plan(
            chunk_state_kernel,
            B * C * H * triton.cdiv(P, 16) * triton.cdiv(N, 32),
            {"BLOCK_P": 16, "BLOCK_N": 32, "BLOCK_INSIDE": 128, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    elif P <= 64:
        plan = _Plan(
            chunk_state_kernel,
            B * C * H * triton.cdiv(P, 64) * triton.cdiv(N, 128),
            {"BLOCK_P": 64, "BLOCK_N": 128, "BLOCK_INSIDE": 64, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    else:
        plan = _Plan(
            chunk_state_kernel,
            B * C * H * triton.cdiv(P, 128) * triton.cdiv(N, 128),
            {"BLOCK_P": 128, "BLOCK_N": 128, "BLOCK_INSIDE": 64, "INDEX": index},
            cuda=(8, 3),
            hip=(4, 2),
        )
    integers = (C, L, H, P, N, *x.stride(), *entry.stride(), *decay.stride(), *states.stride())
    return _launch(
        plan,
        (x, entry, decay, states),
        integers,
        sizes=(P, N, L),
        unit_strides=("stride_x_p", "stride_entry_n", "stride_decay_l", "stride_states_n"),
    )


_CHUNK_STATE = _Kernel(
    "chunk_state",
    views=(
        _View("x", "float16", ("B", "C", "L", "H", "P"), "In"),
        _View("entry", "float16", ("B", "C", "L", "N"), "In"),
        _View("decay", "float32", ("B", "H", "C", "L"), "In"),
        _View("states", "float32", ("B", "C", "H", "P", "N"), "Out"),
    ),
    launch=_launch_chunk_state,
    covered=("states",),
    overlap="snapshot",
)


def chunk_state(x, entry, decay):
    """NumPy arrays; returns states[B, C, H, P, N] f32."""
    return _host_call(_CHUNK_STATE, (x, entry, decay, None))


def chunk_state_out(x, entry, decay, states):
    """NumPy arrays; writes states."""
    _host_call(_CHUNK_STATE, (x, entry, decay, states))


def chunk_state_device(x, entry, decay):
    """Device arrays (torch, CuPy); returns states[B, C, H, P, N] f32."""
    return _device_call(_CHUNK_STATE, (x, entry, decay, None))


def chunk_state_device_out(x, entry, decay, states):
    """Device arrays (torch, CuPy); writes states."""
    _device_call(_CHUNK_STATE, (x, entry, decay, states))


def _launch_state_passing(states, decay, before, last, B, C, H, P, N, L):
    index = _index_type(states, decay, before, last)
    if N <= 64:
        plan = _Plan(
            state_passing_kernel,
            B * H * triton.cdiv(P, 16) * triton.cdiv(N, 64),
            {"BLOCK_P": 16, "BLOCK_N": 64, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    elif N <= 128:
        plan = _Plan(
            state_passing_kernel,
            B * H * triton.cdiv(P, 8) * triton.cdiv(N, 128),
            {"BLOCK_P": 8, "BLOCK_N": 128, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    else:
        plan = _Plan(
            state_passing_kernel_1,
            B * H * P * triton.cdiv(N, 1024),
            {"BLOCK_N": 1024, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 2),
        )
    integers = (C, H, P, N, L, *states.stride(), *decay.stride(), *before.stride(), *last.stride())
    return _launch(
        plan,
        (states, decay, before, last),
        integers,
        sizes=(N, L),
        unit_strides=("stride_states_n", "stride_decay_l", "stride_before_n", "stride_last_n"),
    )


_STATE_PASSING = _Kernel(
    "state_passing",
    views=(
        _View("states", "float32", ("B", "C", "H", "P", "N"), "In"),
        _View("decay", "float32", ("B", "H", "C", "L"), "In"),
        _View("before", "float32", ("B", "C", "H", "P", "N"), "Out"),
        _View("last", "float32", ("B", "H", "P", "N"), "Out"),
    ),
    launch=_launch_state_passing,
    covered=("before", "last"),
)


def state_passing(states, decay):
    """NumPy arrays; returns before[B, C, H, P, N] f32, last[B, H, P, N] f32."""
    return _host_call(_STATE_PASSING, (states, decay, None, None))


def state_passing_out(states, decay, before, last):
    """NumPy arrays; writes before, last."""
    _host_call(_STATE_PASSING, (states, decay, before, last))


def state_passing_device(states, decay):
    """Device arrays (torch, CuPy); returns before[B, C, H, P, N] f32, last[B, H, P, N] f32."""
    return _device_call(_STATE_PASSING, (states, decay, None, None))


def state_passing_device_out(states, decay, before, last):
    """Device arrays (torch, CuPy); writes before, last."""
    _device_call(_STATE_PASSING, (states, decay, before, last))


def _launch_chunk_scan(x, entry, readout, decay, before, out, B, C, L, H, P, N):
    index = _index_type(x, entry, readout, decay, before, out)
    if N <= 64:
        plan = _Plan(
            chunk_scan_resident,
            B * C * H * triton.cdiv(L, 64) * triton.cdiv(P, 64),
            {"BLOCK_ROWS": 64, "BLOCK_P": 64, "BLOCK_N": 64, "BLOCK_COLUMNS": 64, "INDEX": index},
            cuda=(4, 2),
            hip=(2, 1),
        )
    elif N <= 128:
        plan = _Plan(
            chunk_scan_resident,
            B * C * H * triton.cdiv(L, 64) * triton.cdiv(P, 64),
            {"BLOCK_ROWS": 64, "BLOCK_P": 64, "BLOCK_N": 128, "BLOCK_COLUMNS": 64, "INDEX": index},
            cuda=(4, 2),
            hip=(2, 1),
        )
    else:
        plan = _Plan(
            chunk_scan_kernel,
            B * C * H * triton.cdiv(L, 64) * triton.cdiv(P, 64),
            {"BLOCK_ROWS": 64, "BLOCK_P": 64, "BLOCK_N": 32, "BLOCK_COLUMNS": 64, "INDEX": index},
            cuda=(4, 3),
            hip=(2, 1),
        )
    integers = (
        C,
        L,
        H,
        P,
        N,
        *x.stride(),
        *entry.stride(),
        *readout.stride(),
        *decay.stride(),
        *before.stride(),
        *out.stride(),
    )
    return _launch(
        plan,
        (x, entry, readout, decay, before, out),
        integers,
        sizes=(P, N, L),
        unit_strides=(
            "stride_x_p",
            "stride_entry_n",
            "stride_readout_n",
            "stride_decay_l",
            "stride_before_n",
            "stride_out_p",
        ),
    )


_CHUNK_SCAN = _Kernel(
    "chunk_scan",
    views=(
        _View("x", "float16", ("B", "C", "L", "H", "P"), "In"),
        _View("entry", "float16", ("B", "C", "L", "N"), "In"),
        _View("readout", "float16", ("B", "C", "L", "N"), "In"),
        _View("decay", "float32", ("B", "H", "C", "L"), "In"),
        _View("before", "float32", ("B", "C", "H", "P", "N"), "In"),
        _View("out", "float16", ("B", "C", "L", "H", "P"), "Out"),
    ),
    launch=_launch_chunk_scan,
    covered=("out",),
    overlap="snapshot",
)


def chunk_scan(x, entry, readout, decay, before):
    """NumPy arrays; returns out[B, C, L, H, P] f16."""
    return _host_call(_CHUNK_SCAN, (x, entry, readout, decay, before, None))


def chunk_scan_out(x, entry, readout, decay, before, out):
    """NumPy arrays; writes out."""
    _host_call(_CHUNK_SCAN, (x, entry, readout, decay, before, out))


def chunk_scan_device(x, entry, readout, decay, before):
    """Device arrays (torch, CuPy); returns out[B, C, L, H, P] f16."""
    return _device_call(_CHUNK_SCAN, (x, entry, readout, decay, before, None))


def chunk_scan_device_out(x, entry, readout, decay, before, out):
    """Device arrays (torch, CuPy); writes out."""
    _device_call(_CHUNK_SCAN, (x, entry, readout, decay, before, out))


def _host_call(kernel, arrays, **sizes):
    """Run on NumPy arrays: copy to the device what the kernel reads, launch, copy back what it wrote."""
    form, _ = _form(kernel, arrays, sizes)
    run, pairs = _PACKED.get(form, (None, ()))
    if run and not any(np.may_share_memory(arrays[one], arrays[other]) for one, other in pairs):
        return run(arrays)
    plain = all(array is None or type(array) is np.ndarray for array in arrays)
    arrays = [_check_numpy(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
    sizes = _check(kernel, arrays, sizes)
    _check_overlap(kernel, arrays)
    tensors = _upload(kernel, arrays, sizes)
    launch = _run(kernel, tensors, sizes)
    results = _hand_back(kernel, arrays, tensors, _to_numpy)
    if torch.cuda.is_available():
        torch.cuda.synchronize()  # the only one of the call
    few = plain and sum(tensor.nbytes for tensor in tensors) <= _PACKED_BYTES
    if form is not None and launch is not None and few:
        if len(_PACKED) >= 64:  # sizes may change without end
            _PACKED.clear()
        _PACKED[form] = _packed(kernel, arrays, tensors, launch)
    return results


def _packed(kernel, arrays, tensors, launch):
    """How to process small arrays like these: as parts of one memory, which moves in one copy each way."""
    sizes = [-(-tensor.nbytes // 256) * 256 for tensor in tensors]
    pinned = torch.empty(sum(sizes), dtype=torch.uint8, pin_memory=tensors[0].is_cuda)
    memory, lock = torch.empty(sum(sizes), dtype=torch.uint8, device=tensors[0].device), threading.Lock()
    staged = [_part(*pair).numpy() for pair in zip(pinned.split(sizes), tensors, strict=True)]
    tensors = [_part(*pair) for pair in zip(memory.split(sizes), tensors, strict=True)]
    addresses = [tensor.data_ptr() for tensor in tensors]

    def copied(place, array):
        return place.copy() if array is None else np.copyto(array, place)

    def run(arrays):
        with lock:
            for view, array, place in zip(kernel.views, arrays, staged, strict=True):
                if view.direction != "Out":
                    place[...] = array
            memory.copy_(pinned, non_blocking=True)
            launch(tensors, addresses)
            pinned.copy_(memory)  # waits for the device
            return _hand_back(kernel, arrays, staged, copied)

    given = [(place, view) for place, view in enumerate(kernel.views) if arrays[place] is not None]
    pairs = itertools.combinations(given, 2)
    pairs = [(one, other) for (one, a), (other, b) in pairs if {a.direction, b.direction} != {"In"}]
    return run, pairs


def _device_call(kernel, arrays, **sizes):
    """Run on device arrays, in place and on the current stream; as an earlier call did, if they have the same form."""
    form, addresses = _form(kernel, arrays, sizes)
    try:
        repeat = _REPEATS[form]
    except KeyError:
        repeat = None
    if repeat is None or ([addresses] != repeat.apart and _overlap(repeat, addresses)):
        return _first_call(kernel, arrays, sizes, form)
    if repeat.outputs:
        arrays, addresses, results = _with_outputs(repeat, arrays, addresses)
    repeat.launch(arrays, addresses)
    return _unwrap(results) if repeat.outputs else None


def _first_call(kernel, arrays, sizes, form):
    """Check, choose, compile and launch, and keep what was launched for later calls."""
    with _stream(arrays):
        tensors = [_tensor(kernel, view, array) for view, array in zip(kernel.views, arrays, strict=True)]
        sizes = _check(kernel, tensors, sizes)
        device = _common_device(kernel, tensors)
        copies = _check_overlap(kernel, [_Addresses.of(tensor) for tensor in tensors])
        pairs = zip(kernel.views, tensors, strict=True)
        tensors = [tensor.clone() if view.name in copies else tensor for view, tensor in pairs]
        results = []
        for position, (view, array) in enumerate(zip(kernel.views, arrays, strict=True)):
            if array is None:
                tensors[position] = _empty(view, sizes, device)
                results.append(tensors[position])
        launch = _run(kernel, tensors, sizes)
        if form is not None and launch is not None:
            _remember(form, kernel, arrays, tensors, launch)
        return _unwrap(results)


def _form(kernel, arrays, sizes):
    """What checks and plans depend on apart from overlaps, None where they are made in every call; and addresses."""
    form, addresses = [kernel.name], []
    for array in arrays:
        if type(array) in _PLAIN:
            address = array.data_ptr()
            addresses.append(address)
            form += array.dtype, array.shape, array.stride(), array.device, address % 16
        elif type(array) is np.ndarray:
            form += array.dtype, array.shape, array.strides, array.flags.writeable
        else:  # none, or one that is looked at anew in every call
            addresses.append(None)
            form.append(type(array))
    return (None if _POISON else tuple(form)), addresses


def _overlap(repeat, addresses):
    """Whether arrays overlap otherwise than those of the earlier call."""
    for one, other, low, high in repeat.pairs:
        if low < addresses[other] - addresses[one] < high:
            return True
    repeat.apart[:] = (addresses,)
    return False


def _with_outputs(repeat, arrays, addresses):
    """New arrays in the places of outputs, with their addresses; and what is returned of them."""
    tensors, addresses, results = list(arrays), list(addresses), []
    for position, shape, dtype, device in repeat.outputs:
        tensor = tensors[position] = torch.empty(shape, dtype=dtype, device=device)
        addresses[position] = tensor.data_ptr()
        results.append(tensor)
    return tensors, addresses, results


def _remember(form, kernel, arrays, tensors, launch):
    """Keep a launch for later calls, unless an array of this one is of another kind, or was copied."""
    global _REPEATS
    places = [place for place, array in enumerate(arrays) if array is not None]
    plain = all(type(arrays[place]) in _PLAIN and tensors[place] is arrays[place] for place in places)
    if not places or not plain:
        return
    pairs = []
    for one, other in itertools.combinations(places, 2):
        first, second = kernel.views[one], kernel.views[other]
        if first.direction != "In" or second.direction != "In":
            a, b = tensors[one], tensors[other]
            pairs.append((one, other, -_span(b), _span(a)))
    outputs = [(place, t.shape, t.dtype, t.device) for place, t in enumerate(tensors) if arrays[place] is None]
    if len(_REPEATS) >= 1024:  # sizes may change without end
        _REPEATS = {}  # and other threads may be reading
    _REPEATS[form] = _Repeat(launch, pairs, outputs, apart=[])


def _span(tensor):
    """Bytes from the first element to the end of the last."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (last + 1) * tensor.element_size() if tensor.numel() else 0


def _tensor(kernel, view, array):
    """A torch tensor over the memory of a device array; None stands for an output that is still to be allocated."""
    if array is None or isinstance(array, torch.Tensor):
        tensor = array
    elif hasattr(array, "__cuda_array_interface__"):
        tensor = torch.as_tensor(array)
    elif hasattr(array, "__dlpack__"):
        if view.direction != "In":
            _check_writable(kernel, view, array)
        tensor = torch.from_dlpack(array)
    else:
        raise TypeError(f"{kernel.name}: {view.name} must be a device array, not {type(array).__name__}")
    return tensor


def _check_writable(kernel, view, array):
    """An array that is read-only refuses to give its memory without a version, which could not say so."""
    try:
        array.__dlpack__()
    except BufferError as error:
        raise ValueError(f"{kernel.name}: {view.name} is written, but the array is read-only") from error


def _dtype_name(array):
    return str(array.dtype).removeprefix("torch.") if isinstance(array, torch.Tensor) else array.dtype.name


def _common_device(kernel, tensors):
    """The device that all arguments are on: a GPU, or the CPU under the interpreter."""
    pairs = zip(kernel.views, tensors, strict=True)
    devices = {tensor.device: view.name for view, tensor in pairs if tensor is not None}
    if len(devices) > 1:
        places = ", ".join(f"{name} on {device}" for device, name in devices.items())
        raise ValueError(f"{kernel.name}: the arguments are on different devices: {places}")
    expected = _device()
    device = next(iter(devices), torch.device(expected))
    if device.type != expected:
        raise ValueError(f"{kernel.name}: {devices[device]} is on {device}, expected an array on {expected}")
    return device


def _stream(arrays):
    """CuPy's current stream if CuPy arrays are among the arguments, else torch's current stream."""
    if not any(type(array).__module__.partition(".")[0] == "cupy" for array in arrays):
        return contextlib.nullcontext()
    pointer = sys.modules["cupy"].cuda.get_current_stream().ptr
    return torch.cuda.stream(torch.cuda.ExternalStream(pointer) if pointer else torch.cuda.default_stream())


def _check_numpy(kernel, view, array):
    """An output that is still to be allocated is None."""
    if array is None:
        return None
    if not isinstance(array, (np.ndarray, np.generic)):
        raise TypeError(f"{kernel.name}: {view.name} must be a NumPy array, not {type(array).__name__}")
    if view.direction != "In" and not array.flags.writeable:
        raise ValueError(f"{kernel.name}: {view.name} is written, but the array is read-only")
    return np.asarray(array)


def _check(kernel, arrays, sizes):
    """Hold every array against its declaration; the result maps each size name to its value."""
    for view, array in zip(kernel.views, arrays, strict=True):
        if array is not None:
            _check_array(kernel, view, array, sizes)
    return sizes


def _check_array(kernel, view, array, sizes):
    dtype, shape = _dtype_name(array), tuple(array.shape)
    if dtype != view.dtype:
        raise TypeError(f"{kernel.name}: {view.name} must have dtype {view.dtype}, not {dtype}")
    if len(shape) != len(view.shape):
        declared = str(view.shape).replace("'", "")
        raise ValueError(f"{kernel.name}: {view.name} must have shape {declared}, not {shape}")
    for axis, (extent, size) in enumerate(zip(view.shape, shape, strict=True)):
        expected = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
        if size != expected:
            known = expected if extent == expected else f"{extent} = {expected}"
            raise ValueError(f"{kernel.name}: axis {axis} of {view.name} must be {known}, not {size} (shape {shape})")


def _check_overlap(kernel, arrays):
    """Names of inputs to copy, as an output shares their memory; other overlaps are refused."""
    copies = set()
    given = [(view, array) for view, array in zip(kernel.views, arrays, strict=True) if array is not None]
    for view, array in given:
        if view.direction != "In" and _folded(array):
            raise ValueError(f"{kernel.name}: {view.name} is written, but its elements overlap in memory")
    for (first, a), (second, b) in itertools.combinations(given, 2):
        written = [view.name for view in (first, second) if view.direction != "In"]
        if not written or not np.shares_memory(a, b):
            continue
        if kernel.overlap == "snapshot" and len(written) == 1:
            copies.add(first.name if first.direction == "In" else second.name)
            continue
        raise ValueError(f"{kernel.name}: {first.name} and {second.name} overlap in memory, which it does not support")
    return copies


def _folded(array):
    """Whether elements of an array may overlap: an axis steps over less memory than the axes of smaller steps take."""
    taken = array.itemsize
    for step, size in sorted(zip(map(abs, array.strides), array.shape, strict=True)) if array.size else ():
        if size > 1 and step < taken:
            return True
        taken += step * (size - 1)
    return False


def _elements(array):
    """Equal for arrays of the same elements in the same order."""
    return array.__array_interface__["data"][0], array.strides, array.shape, array.dtype


class _Addresses:
    """A device tensor's addresses as a NumPy array that is never read, for NumPy's test of shared memory."""

    def __init__(self, tensor):
        size = tensor.element_size()
        self.__array_interface__ = {
            "version": 3,
            "data": (tensor.data_ptr(), False),
            "typestr": f"|V{size}",
            "shape": tuple(tensor.shape),
            "strides": tuple(size * stride for stride in tensor.stride()),
        }

    @classmethod
    def of(cls, tensor):
        return None if tensor is None or not tensor.numel() else np.array(cls(tensor), copy=False)


def _empty(view, sizes, device):
    shape = [extent if isinstance(extent, int) else sizes[extent] for extent in view.shape]
    return torch.empty(shape, dtype=getattr(torch, view.dtype), device=device)


def _unwrap(results):
    """One result stands for itself, several are a tuple, none is None."""
    return tuple(results) if len(results) > 1 else results[0] if results else None


def _device():
    if os.getenv("TRITON_INTERPRET") == "1":
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    raise RuntimeError("no GPU found: use a machine with one, or set TRITON_INTERPRET=1 before Python starts")


def _run(kernel, tensors, sizes):
    with torch.cuda.device_of(tensors[0]):
        if _POISON:
            return _run_poisoned(kernel, tensors, sizes)
        return kernel.launch(*tensors, **sizes)


def _run_poisoned(kernel, tensors, sizes):
    """Launch over two bit patterns: an output element that still holds the pattern both times was not written."""
    before = [tensor.clone() for tensor in tensors]
    addresses = [tensor.data_ptr() for tensor in tensors]
    alone = [addresses.count(address) == 1 for address in addresses]
    poisoned = [view.direction == "Out" and own for view, own in zip(kernel.views, alone, strict=True)]
    kept = [torch.ones(tensor.shape, dtype=torch.bool, device=tensor.device) for tensor in tensors]
    for byte in (0x5A, 0x25):
        for view, tensor, old, poison in zip(kernel.views, tensors, before, poisoned, strict=True):
            if view.direction != "In":
                _bits(tensor).fill_(_pattern(tensor, byte)) if poison else tensor.copy_(old)
        kernel.launch(*tensors, **sizes)
        for tensor, mask in zip(tensors, kept, strict=True):
            mask &= _bits(tensor) == _pattern(tensor, byte)
    for view, poison, mask in zip(kernel.views, poisoned, kept, strict=True):
        if poison and mask.any():
            message = f"{kernel.name}: {int(mask.sum())} of {mask.numel()} elements of {view.name} were not written"
            if view.name in kernel.covered:
                raise RuntimeError(message)
            print(message, file=sys.stderr)


def _bits(tensor):
    """The elements as integers of their width."""
    return tensor.view(_INTEGERS[tensor.element_size()])


def _pattern(tensor, byte):
    return int.from_bytes(bytes([byte] * tensor.element_size()), "little")


def _launch(plan, views, integers, *, sizes, unit_strides):
    """Launch on the current stream, compiled for aligned arrays (innermost strides 1, else multiples of 16) or any.

    The result does the same with other views, their addresses and scalars that are alike; None if nothing is to do.
    """
    if plan.programs < 1:
        return None
    kernel = plan.kernel
    alignments = [number for view in views for number in (view.data_ptr(), *view.stride()[:-1])]
    if any(view.stride(-1) != 1 for view in views if view.dim()):
        kernel = _specialised(kernel, ())
    elif any(number % 16 for number in (*alignments, *sizes)):
        kernel = _specialised(kernel, unit_strides)
    warps, stages = plan.hip if torch.version.hip else plan.cuda
    options = {**plan.blocks, "num_warps": warps, "num_stages": stages}
    start = _start(kernel, plan.programs, views, integers, options)
    return lambda views, places: start(views, places, integers)


def _start(kernel, programs, views, others, options):
    """Compile before the launch, so that a failure to compile leaves the caller's arrays alone.

    The result launches the compiled function with other views, or their addresses, and other arguments behind them.
    """
    arguments = (*views, *others)
    start = _interpreted(kernel[(programs,)], options)
    if hasattr(kernel, "warmup"):  # interpreters before Triton 3.6 have nothing to compile
        compiled = kernel.warmup(*arguments, grid=(programs,), **options)
        if isinstance(compiled, triton.compiler.CompiledKernel):
            constants = [options[name] for name in kernel.arg_names[len(arguments) :]]
            start = _compiled(compiled[(programs, 1, 1)], constants)
    start(views, [view.data_ptr() for view in views], others)
    return start


def _interpreted(run, options):
    return lambda views, _, others: run(*views, *others, **options)


def _compiled(run, constants):
    """Launch what was compiled for the current device: there and on the current stream, with addresses."""
    driver = triton.runtime.driver.active
    current_device, current_stream = driver.get_current_device, driver.get_current_stream
    device = current_device()

    def start(_, addresses, others):
        if current_device() == device:
            run(*addresses, *others, *constants, stream=current_stream(device))
        else:
            with torch.cuda.device(device):
                run(*addresses, *others, *constants, stream=current_stream(device))

    return start


@functools.cache
def _specialised(kernel, unit_strides):
    """The kernel for strides, sizes and addresses of any alignment; only the named strides are known to be 1."""
    constants = [name for name, kind in kernel.fn.__annotations__.items() if kind is tl.constexpr]
    known = {*constants, *unit_strides}
    return triton.jit(kernel.fn, do_not_specialize=[name for name in kernel.arg_names if name not in known])


def _index_type(*views):
    """The integer that holds every offset: 64-bit well before 2**31, as the last tile may reach past the end."""
    axes = (zip(view.shape, view.stride(), strict=True) for view in views)
    spans = (sum((size - 1) * abs(stride) for size, stride in pairs) for pairs in axes)
    return tl.int64 if max(spans) >= 2**30 else tl.int32


def _upload(kernel, arrays, sizes):
    """Device tensors for all arguments: only what the kernel reads is copied, and the same elements only once."""
    device, tensors = _device(), {}
    for view, array in zip(kernel.views, arrays, strict=True):
        key = _elements(array) if view.direction == "In" else view.name
        if key not in tensors:
            read = view.direction != "Out"
            tensors[key] = _to_device(array, view.dtype, device) if read else _empty(view, sizes, device)
        tensors[view.name] = tensors[key]
    return [tensors[view.name] for view in kernel.views]


def _hand_back(kernel, arrays, sources, copy):
    """Copy what was written into the caller's arrays, or into new ones, which are returned."""
    triples = zip(kernel.views, arrays, sources, strict=True)
    written = [(array, copy(source, array)) for view, array, source in triples if view.direction != "In"]
    return _unwrap([result for array, result in written if array is None])


def _to_device(array, dtype, device):
    """A tensor with an array's elements, for what comes later on the current stream."""
    tensor = torch.empty(array.shape, dtype=getattr(torch, dtype), device=device)
    _move(array, tensor, up=True)
    return tensor


def _to_numpy(tensor, array=None):
    """A tensor's elements, in a given array or in a new one."""
    array = _new_array(tensor) if array is None else array
    _move(array, tensor, up=False)
    return array


_KEPT = collections.defaultdict(list)  # by bytes, memory of results that are gone: its pages are cleared already
_KEPT_BYTES = 1 << 30  # in all; _KEPT.clear() gives them back


def _new_array(tensor):
    """Large ones in memory that was used before, if there is any: to clear new pages takes as long as to copy."""
    size, dtype = tensor.nbytes, _dtype_name(tensor)
    if not 1 << 22 <= size <= _KEPT_BYTES:
        return np.empty(tensor.shape, dtype)
    try:
        memory = _KEPT[size].pop()
    except IndexError:
        memory = np.empty(size, np.uint8)
    array = torch.from_numpy(memory).numpy()
    weakref.finalize(array.base, _keep, memory)  # the tensor lives as long as any array over it
    return array.view(dtype).reshape(tensor.shape)


def _keep(memory):
    if memory.nbytes + sum(size * len(each) for size, each in list(_KEPT.items())) > _KEPT_BYTES:
        _KEPT.clear()
    _KEPT[memory.nbytes].append(memory)


_SLOT_BYTES = 1 << 25  # large parts keep PyTorch's threads busy
_SLOTS = 2  # one on the bus, one with the threads
_MOVES = threading.BoundedSemaphore(2)  # at a time: more would pin more memory without being faster
_DIRECT_BYTES = 1 << 18  # up to so many, a slot takes longer than it saves


def _move(array, tensor, up):
    """Copy up to a tensor or down: while one part is on the bus, threads copy another to its slot or from it."""
    forwards = all(step >= 0 and step % array.itemsize == 0 for step in array.strides)
    if not (forwards and array.flags.aligned and array.dtype.isnative):  # PyTorch has no such tensors
        plain = array.astype(array.dtype.newbyteorder("="), order="C")
        _move(plain, tensor, up)
        if not up:
            array[...] = plain
        return
    bits = {**array.__array_interface__, "data": (array.ctypes.data, False), "typestr": f"<i{array.itemsize}"}
    memory = torch.from_numpy(np.asarray(types.SimpleNamespace(__array_interface__=bits, array=array)))
    tensor, begun = tensor.view(memory.dtype), collections.deque()
    if tensor.nbytes <= _DIRECT_BYTES:
        tensor.copy_(memory) if up else memory.copy_(tensor)
        return
    taken = _SLOTS * _SLOT_BYTES if tensor.nbytes > _SLOT_BYTES else tensor.nbytes

    def finish():
        part, slot, arrive = begun.popleft()
        arrive()
        if not up:
            part.copy_(slot)

    with _MOVES:
        slots = torch.empty(taken, dtype=torch.uint8, pin_memory=tensor.is_cuda).split(_SLOT_BYTES)
        for turn, (part, piece) in enumerate(_parts(memory, tensor)):
            if turn >= _SLOTS:
                finish()
            slot = _part(slots[turn % _SLOTS], piece)
            source, target = (slot.copy_(part), piece) if up else (piece, slot)
            target.copy_(source, non_blocking=True)
            begun.append((part, slot, _fence(tensor)))
        while begun and not up:  # PyTorch looks after slots that are on their way up
            finish()


def _parts(array, tensor):
    """Both cut alike along their outermost axes into parts that fit a slot."""
    if tensor.nbytes <= _SLOT_BYTES:
        return [(array, tensor)]
    axis = next(axis for axis, size in enumerate(tensor.shape) if size > 1)
    rows = max(1, tensor.shape[axis] * _SLOT_BYTES // tensor.nbytes)
    pairs = zip(array.split(rows, axis), tensor.split(rows, axis), strict=True)
    return [part for pair in pairs for part in _parts(*pair)]


def _fence(tensor):
    """What waits for all that has been begun on the tensor's device."""
    return torch.cuda.current_stream(tensor.device).record_event().synchronize if tensor.is_cuda else lambda: None


def _part(memory, tensor):
    """As many bytes of memory as a tensor has, in its form."""
    return memory[: tensor.nbytes].view(tensor.dtype).view(tensor.shape)


_CASES = (
    (_CHUNK_STATE, {"B": 37, "C": 37, "L": 37, "H": 37, "P": 37, "N": 37}),
    (_CHUNK_STATE, {"B": 37, "C": 37, "L": 37, "H": 37, "P": 37, "N": 64}),
    (_STATE_PASSING, {"B": 37, "C": 37, "H": 37, "P": 37, "N": 37, "L": 37}),
    (_STATE_PASSING, {"B": 37, "C": 37, "H": 37, "P": 37, "N": 37, "L": 64}),
    (_CHUNK_SCAN, {"B": 37, "C": 37, "L": 37, "H": 37, "P": 37, "N": 37}),
    (_CHUNK_SCAN, {"B": 37, "C": 37, "L": 37, "H": 37, "P": 37, "N": 64}),
)


def _self_check():
    """Small random inputs, poisoned outputs, every case twice; the number of cases that went wrong."""
    global _POISON
    _POISON = True
    generator, failures = np.random.default_rng(0), 0
    for kernel, sizes in _CASES:
        tensors = [_random(view, kernel, sizes, generator) for view in kernel.views]
        terms = max(tensor.numel() for tensor in tensors)
        first = _written(kernel, tensors, sizes)
        second = _written(kernel, tensors, sizes)
        wrong = [name for name in first if not _agree(first[name], second[name], terms)]
        failures += bool(wrong)
        print(kernel.name, sizes, f"differs in {', '.join(wrong)}" if wrong else "ok")
    return failures


def _random(view, kernel, sizes, generator):
    """Integers are small enough to be an index of any axis."""
    extents = [sizes[extent] if isinstance(extent, str) else extent for view in kernel.views for extent in view.shape]
    shape = [sizes[extent] if isinstance(extent, str) else extent for extent in view.shape]
    if "float" in view.dtype:
        values = generator.standard_normal(shape)
    else:
        values = generator.integers(0, 2 if view.dtype == "bool" else max(1, min(extents, default=1)), shape)
    return torch.as_tensor(values).to(_device(), getattr(torch, view.dtype))


def _written(kernel, tensors, sizes):
    """Run on copies; the views that the kernel writes, by name."""
    copies = [tensor.clone() for tensor in tensors]
    _run(kernel, copies, sizes)
    return {view.name: copy for view, copy in zip(kernel.views, copies, strict=True) if view.direction != "In"}


def _agree(one, other, terms):
    """Integers are equal; floats differ by no more than another order of summation explains."""
    if not one.dtype.is_floating_point:
        return torch.equal(one.to(torch.int64), other.to(torch.int64))
    a, b = one.double(), other.double()
    finite = torch.isfinite(a) & torch.isfinite(b)
    same = torch.equal(a[~finite].nan_to_num(nan=1.5), b[~finite].nan_to_num(nan=1.5))
    band = 16 * torch.finfo(one.dtype).eps * terms**0.5 * b[finite].norm()
    return same and bool((a[finite] - b[finite]).norm() <= band)


if __name__ == "__main__":
    sys.exit(_self_check())
