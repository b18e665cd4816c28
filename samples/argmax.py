"""Largest class score of every pixel and its class (the lowest on ties; the first NaN wins)."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "P": 7, "C": 21},
    {"B": 1, "P": 16, "C": 32},
    {"B": 1, "P": 1, "C": 1},
    {"B": 2, "P": 0, "C": 5},
]
LARGE = [{"B": 3, "P": 131, "C": 517}, {"B": 1, "P": 2, "C": 40_009}]


@intent.kernel
def argmax(
    scores: I.In[I.f32, ("B", "P", "C")],
    best: I.Out[I.f32, ("B", "P")],
    label: I.Out[I.i64, ("B", "P")],
):
    B, P, C = scores.shape
    b = I.domain(0, B)
    p = I.domain(0, P)
    c = I.domain(0, C)
    values, positions = I.arg_reduce.max(scores[b, p, c], axis=2)
    best[b, p] = values
    label[b, p] = I.cast(positions, I.i64)


def reference(scores):
    import numpy as np

    label = np.argmax(scores, axis=2)
    return np.take_along_axis(scores, label[:, :, None], axis=2)[:, :, 0], label
