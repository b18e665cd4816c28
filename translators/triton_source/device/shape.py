# mypy: ignore-errors
"""Tiles of other shapes."""

import triton
import triton.language as tl


@triton.jit
def _each_repeated(x, axis: tl.constexpr, times: tl.constexpr):
    # Neighbouring lanes along an axis that want one element: it is read once.
    if len(x.shape) == 1:
        result = tl.reshape(tl.broadcast_to(x[:, None], (x.shape[0], times)), (x.shape[0] * times,))
    elif axis == 0:
        wide = tl.broadcast_to(x[:, None, :], (x.shape[0], times, x.shape[1]))
        result = tl.reshape(wide, (x.shape[0] * times, x.shape[1]))
    else:
        wide = tl.broadcast_to(x[:, :, None], (x.shape[0], x.shape[1], times))
        result = tl.reshape(wide, (x.shape[0], x.shape[1] * times))
    return result
