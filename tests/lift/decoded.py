"""Coordinates that are taken apart from a flat index, and parts of arrays that overlap."""

import triton
import triton.language as tl


@triton.jit
def space_to_depth_kernel(x_ptr, y_ptr, count, H, W, R, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    plane = i // (H * W)
    within = i - plane * (H * W)
    row = within // W
    column = within - row * W
    down = plane % (R * R) // R
    right = plane % (R * R) - down * R
    source = plane // (R * R) * (R * H * R * W) + (row * R + down) * (R * W) + column * R + right
    tl.store(y_ptr + i, tl.load(x_ptr + source, mask=i < count), mask=i < count)


@triton.jit
def window_mean_kernel(x_ptr, y_ptr, count, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(W):
        total += tl.load(x_ptr + i * 2 + k * 3, mask=i < count, other=0.0)
    tl.store(y_ptr + i, total / W, mask=i < count)
