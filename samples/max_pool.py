"""3 x 3 max pooling with stride 2 and one row of padding, NHWC, by gathering the nine taps of every output pixel."""

import intent
import intent.language as I

WINDOW = 3

CASES = [
    {"B": 1, "H": 5, "W": 9, "P": 3, "Q": 5, "C": 19},
    {"B": 2, "H": 4, "W": 8, "P": 2, "Q": 4, "C": 16},
    {"B": 1, "H": 1, "W": 1, "P": 1, "Q": 1, "C": 1},
    {"B": 0, "H": 4, "W": 4, "P": 2, "Q": 2, "C": 3},
]
LARGE = [{"B": 2, "H": 33, "W": 67, "P": 17, "Q": 34, "C": 131}]


@intent.kernel
def max_pool(
    x: I.In[I.f32, ("B", "H", "W", "C")],
    out: I.Out[I.f32, ("B", "P", "Q", "C")],
):
    B, H, W, C = x.shape
    _, P, Q, _ = out.shape
    channels = I.domain(0, C)
    columns = I.domain(0, Q)
    for b, p in I.parallel((I.domain(0, B), I.domain(0, P))):
        largest = I.full((Q, C), -I.inf, dtype=I.f32)
        for r in range(WINDOW):
            for s in range(WINDOW):
                i = 2 * p + r - 1
                j = 2 * I.indices(columns) + s - 1
                inside = (i >= 0) & (i < H) & (j >= 0) & (j < W)
                tap = I.gather(x, (b, i, j, channels), valid=inside[:, None], fill=-I.inf)
                largest = I.maximum(largest, tap)
        out[b, p, columns, channels] = largest


def reference(x):
    import numpy as np

    B, H, W, C = x.shape
    P, Q = (H + 1) // 2, (W + 1) // 2
    padded = np.full((B, 2 * P + 1, 2 * Q + 1, C), -np.inf, dtype=np.float32)
    padded[:, 1 : H + 1, 1 : W + 1] = x
    taps = [padded[:, r : r + 2 * P : 2, s : s + 2 * Q : 2] for r in range(WINDOW) for s in range(WINDOW)]
    return np.maximum.reduce(taps)
