"""2 x 2 average pooling of images whose sides are even: reshape each image to blocks and sum inside the blocks."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "H": 6, "W": 22, "P": 3, "Q": 11},
    {"B": 1, "H": 8, "W": 32, "P": 4, "Q": 16},
    {"B": 1, "H": 2, "W": 2, "P": 1, "Q": 1},
    {"B": 1, "H": 0, "W": 4, "P": 0, "Q": 2},
]
LARGE = [{"B": 3, "H": 130, "W": 262, "P": 65, "Q": 131}]


@intent.kernel
def average_pool(
    x: I.In[I.f32, ("B", "H", "W")],
    out: I.Out[I.f32, ("B", "P", "Q")],
):
    B, P, Q = out.shape
    rows = I.domain(0, P)
    columns = I.domain(0, Q)
    for b in I.parallel(I.domain(0, B)):
        blocks = I.reshape(x[b, :, :], (P, 2, Q, 2))
        out[b, rows, columns] = 0.25 * I.reduce.sum(blocks, axis=(1, 3))


def reference(x):
    import numpy as np

    B, H, W = x.shape
    return x.astype(np.float64).reshape(B, H // 2, 2, W // 2, 2).mean(axis=(2, 4)).astype(np.float32)
