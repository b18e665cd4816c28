"""2 x 2 max pooling of disjoint windows, with the flat position of every maximum for the backward pass."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "P": 3, "Q": 7},
    {"B": 1, "P": 4, "Q": 16},
    {"B": 1, "P": 1, "Q": 1},
    {"B": 0, "P": 2, "Q": 2},
    {"B": 1, "P": 0, "Q": 2},
]
LARGE = [{"B": 5, "P": 37, "Q": 131}]


@intent.kernel
def max_pool_indices(
    x: I.In[I.f32, ("B", "P", 2, "Q", 2)],
    out: I.Out[I.f32, ("B", "P", "Q")],
    position: I.Out[I.i64, ("B", "P", "Q")],
):
    B, P, _, Q, _ = x.shape
    q = I.domain(0, Q)
    for b, p in I.parallel((I.domain(0, B), I.domain(0, P))):
        window = I.reshape(I.transpose(x[b, p, :, q, :], (1, 0, 2)), (Q, 4))
        largest, place = I.arg_reduce.max(window, axis=1)
        out[b, p, q] = largest
        row = 2 * p + place // 2
        column = 2 * I.indices(q) + place % 2
        position[b, p, q] = I.cast(row * (2 * Q) + column, I.i64)


def reference(x):
    import numpy as np

    B, P, _, Q, _ = x.shape
    windows = x.transpose(0, 1, 3, 2, 4).reshape(B, P, Q, 4)
    place = np.argmax(windows, axis=3)
    rows = 2 * np.arange(P)[:, None] + place // 2
    columns = 2 * np.arange(Q) + place % 2
    return np.max(windows, axis=3, initial=-np.inf).astype(np.float32), rows * (2 * Q) + columns
