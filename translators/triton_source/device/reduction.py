# mypy: ignore-errors
"""Combining functions of reductions."""

import triton
import triton.language as tl


@triton.jit
def _arg_max(value, index, other, other_index):
    # The larger value, where NaN counts as the largest; of equal ones the lower index.
    larger = (other > value) | ((other != other) & (value == value))
    equal = (other == value) | ((other != other) & (value != value))
    take_other = larger | (equal & (other_index < index))
    return tl.where(take_other, other, value), tl.where(take_other, other_index, index)


@triton.jit
def _later_max(value, index, other, other_index):
    # _arg_max of an element behind all before it: only a larger one wins, and NaN is not below or equal to a number.
    take_other = (value == value) & ((other <= value) == 0)
    return tl.where(take_other, other, value), tl.where(take_other, other_index, index)


@triton.jit
def _histogram(values, first, condition, BINS: tl.constexpr):
    # How many of the values where the condition holds are first, first + 1, ... tl.histogram itself wraps around.
    position = values - first
    inside = condition & ((position >= 0) & (position < BINS))  # the two become one comparison
    counts = tl.histogram(position.to(tl.int32), BINS, mask=inside)
    return counts.to(tl.int64).to(tl.int32)  # the CPU interpreter of Triton 3.5 has 64 bits where it says int32


@triton.jit
def _as_number(pointer):
    # By way of an integer: of small arrays on AMD GPUs Triton makes accesses of another kind, in which an exchange
    # does not compile.
    return pointer.to(tl.int64).to(pointer.dtype)


@triton.jit
def _any_lane(condition):
    # Whether it holds anywhere in the tile; a single value is a tile of one.
    count = condition.to(tl.int32)
    if len(condition.shape) > 0:
        count = tl.max(count, axis=None)
    return count != 0
