"""Cross-entropy loss with ignored rows, written by hand: short rows stay on chip, long rows are read twice."""

import triton
import triton.language as tl


@triton.jit
def cross_entropy_resident(
    logits_ptr,
    target_ptr,
    loss_ptr,
    V,
    stride_logits_row,
    stride_logits_col,
    stride_target,
    stride_loss,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    logits_row = logits_ptr + row * stride_logits_row
    target = tl.load(target_ptr + row * stride_target)
    used = target != -100
    mask = used & (columns < V)
    v = tl.load(logits_row + columns * stride_logits_col, mask=mask, other=-float("inf")).to(tl.float32)
    largest = tl.max(v, axis=0)
    mass = tl.sum(tl.exp(v - largest), axis=0)
    picked = tl.load(logits_row + target * stride_logits_col, mask=used, other=0.0).to(tl.float32)
    loss = tl.where(used, tl.log(mass) + largest - picked, 0.0)
    tl.store(loss_ptr + row * stride_loss, loss)


@triton.jit
def cross_entropy_streamed(
    logits_ptr,
    target_ptr,
    loss_ptr,
    V,
    stride_logits_row,
    stride_logits_col,
    stride_target,
    stride_loss,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    logits_row = logits_ptr + row * stride_logits_row
    target = tl.load(target_ptr + row * stride_target)
    if target == -100:
        tl.store(loss_ptr + row * stride_loss, 0.0)
    else:
        largest = tl.full((BLOCK,), -float("inf"), tl.float32)
        for start in range(0, V, BLOCK):
            columns = start + tl.arange(0, BLOCK)
            v = tl.load(logits_row + columns * stride_logits_col, mask=columns < V, other=-float("inf"))
            largest = tl.maximum(largest, v.to(tl.float32))
        row_max = tl.max(largest, axis=0)
        mass = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, V, BLOCK):
            columns = start + tl.arange(0, BLOCK)
            v = tl.load(logits_row + columns * stride_logits_col, mask=columns < V, other=-float("inf"))
            mass += tl.exp(v.to(tl.float32) - row_max)
        picked = tl.load(logits_row + target * stride_logits_col).to(tl.float32)
        tl.store(loss_ptr + row * stride_loss, tl.log(tl.sum(mass, axis=0)) + row_max - picked)


def cross_entropy(logits, target, loss, resident=True):
    M, V = logits.shape
    kernel = cross_entropy_resident if resident else cross_entropy_streamed
    block = triton.next_power_of_2(V) if resident else 16
    kernel[(M,)](logits, target, loss, V, *logits.stride(), *target.stride(), *loss.stride(), BLOCK=block)
