"""Twice the height and width by bilinear interpolation between pixel centres; edges repeat the border."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "H": 5, "W": 7, "P": 10, "Q": 14},
    {"B": 1, "H": 4, "W": 8, "P": 8, "Q": 16},
    {"B": 1, "H": 1, "W": 1, "P": 2, "Q": 2},
    {"B": 0, "H": 3, "W": 3, "P": 6, "Q": 6},
]
LARGE = [{"B": 3, "H": 37, "W": 131, "P": 74, "Q": 262}]


@intent.fn
def neighbours(at, extent):
    """The lower and upper neighbour of an output coordinate, and how much the upper one counts."""
    low = (at - 1) // 2
    share = I.select(at % 2 == 0, I.full(at.shape, 0.75, I.f32), I.full(at.shape, 0.25, I.f32))
    return I.maximum(low, 0), I.minimum(low + 1, extent - 1), share


@intent.kernel
def upsample_bilinear(
    x: I.In[I.f32, ("B", "H", "W")],
    out: I.Out[I.f32, ("B", "P", "Q")],
):
    B, H, W = x.shape
    P, Q = out.shape[1], out.shape[2]
    p = I.domain(0, P)
    q = I.domain(0, Q)
    above, below, down = neighbours(I.indices(p)[:, None], H)
    left, right, along = neighbours(I.indices(q)[None, :], W)
    for b in I.parallel(I.domain(0, B)):
        upper = x[b, above, left] * (1.0 - along) + x[b, above, right] * along
        lower = x[b, below, left] * (1.0 - along) + x[b, below, right] * along
        out[b, p, q] = upper * (1.0 - down) + lower * down


def reference(x):
    import numpy as np

    def doubled(v, axis):
        extent = v.shape[axis]
        at = (np.arange(2 * extent) + 0.5) / 2 - 0.5
        low = np.floor(at).astype(int)
        share = (at - low).reshape([-1 if other == axis else 1 for other in range(v.ndim)])
        lower, upper = (np.take(v, np.clip(low + shift, 0, extent - 1), axis=axis) for shift in (0, 1))
        return lower * (1.0 - share) + upper * share

    return doubled(doubled(x.astype(np.float64), 1), 2).astype(np.float32)


FINITE = ["x"]
