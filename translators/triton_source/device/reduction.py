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
