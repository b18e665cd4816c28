"""The TOP largest elements of every row, largest first, and their positions: pick the largest, cross it out, repeat."""

import intent
import intent.language as I

TOP = 4

CASES = [
    {"M": 5, "N": 37},
    {"M": 4, "N": 32},
    {"M": 1, "N": 4},
    {"M": 0, "N": 8},
]
LARGE = [{"M": 131, "N": 1031}]


@intent.kernel
def top_k(
    x: I.In[I.f32, ("M", "N")],
    values: I.Out[I.f32, ("M", TOP)],
    positions: I.Out[I.i64, ("M", TOP)],
):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        for k in range(TOP):
            largest, position = I.arg_reduce.max(v, axis=0)
            values[row, k] = largest
            positions[row, k] = I.cast(position, I.i64)
            v = I.select(I.indices(columns) == position, -I.inf, v)


def reference(x):
    import numpy as np

    order = np.argsort(-x, axis=1, kind="stable")[:, :TOP]
    return np.take_along_axis(x, order, axis=1), order
