"""Programs that end early, values behind conditions, segments with offsets, scattered rows, persistent programs."""

import torch
import triton
import triton.language as tl


@triton.jit
def early_rows_kernel(x_ptr, y_ptr, rows, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row >= rows:
        return
    for start in range(0, N, BLOCK):
        n = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + n, mask=n < N, other=0.0)
        tl.store(y_ptr + row * N + n, tl.maximum(x, 0.0), mask=n < N)


def early_rows(x, y):
    M, N = x.shape
    early_rows_kernel[(M + 7,)](x, y, M, N, BLOCK=128)


@triton.jit
def ignored_loss_kernel(logits_ptr, targets_ptr, loss_ptr, n_classes, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(targets_ptr + row)
    if target == ignored:
        tl.store(loss_ptr + row, 0.0)
        return
    largest = float("-inf")
    mass = 0.0
    for start in range(0, n_classes, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * n_classes + columns, mask=columns < n_classes, other=float("-inf"))
        new = tl.maximum(largest, tl.max(x))
        mass = mass * tl.exp(largest - new) + tl.sum(tl.exp(x - new))
        largest = new
    chosen = tl.load(logits_ptr + row * n_classes + target)
    tl.store(loss_ptr + row, largest + tl.log(mass) - chosen)


def ignored_loss(logits, targets, ignored):
    rows, n_classes = logits.shape
    loss = torch.empty((rows,), dtype=torch.float32)
    ignored_loss_kernel[(rows,)](logits, targets, loss, n_classes, ignored, BLOCK=1024)
    return loss


@triton.jit
def segment_sum_kernel(x_ptr, offsets_ptr, out_ptr, BLOCK: tl.constexpr):
    segment = tl.program_id(0)
    begin = tl.load(offsets_ptr + segment)
    end = tl.load(offsets_ptr + segment + 1)
    total = 0.0
    for start in range(begin, end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + i, mask=i < end, other=0.0), axis=0)
    tl.store(out_ptr + segment, total)


def segment_sum(x, offsets):
    out = torch.empty((offsets.numel() - 1,), dtype=torch.float32)
    segment_sum_kernel[(out.shape[0],)](x, offsets, out, BLOCK=64)
    return out


@triton.jit
def persistent_scale_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


def persistent_scale(x, y):
    n = x.numel()
    persistent_scale_kernel[(16,)](x, y, n, BLOCK=256)


@triton.jit
def grid_stride_sum_kernel(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(sums_ptr, tl.sum(total, axis=0))


def grid_stride_sum(x, sums):
    n = x.numel()
    grid_stride_sum_kernel[(32,)](x, sums, n, BLOCK=128)


@triton.jit
def permuted_rows_kernel(x_ptr, order_ptr, y_ptr, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    place = tl.load(order_ptr + row)
    d = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * D + d, mask=d < D)
    tl.store(y_ptr + place * D + d, x, mask=d < D)


def permuted_rows(x, order, y):
    rows, D = x.shape
    permuted_rows_kernel[(rows,)](x, order, y, D, BLOCK=triton.next_power_of_2(D))


@triton.jit
def filtered_sum_kernel(x_ptr, keep_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    n = tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + row * N + n, mask=n < N, other=0) != 0
    x = tl.load(x_ptr + row * N + n, mask=(n < N) & keep, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


def filtered_sum(x, keep):
    rows, N = x.shape
    out = torch.empty((rows,), dtype=torch.float32)
    filtered_sum_kernel[(rows,)](x, keep, out, N, BLOCK=triton.next_power_of_2(N))
    return out
