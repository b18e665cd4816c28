"""3 x 3 convolution with zero padding, NHWC activations, f16 storage and f32 accumulation."""

import intent
import intent.language as I

TAPS = 3

CASES = [
    {"B": 1, "H": 3, "W": 5, "C": 18, "F": 7},
    {"B": 2, "H": 2, "W": 16, "C": 16, "F": 16},
    {"B": 1, "H": 1, "W": 1, "C": 1, "F": 1},
    {"B": 0, "H": 2, "W": 2, "C": 3, "F": 2},
    {"B": 1, "H": 1, "W": 3, "C": 0, "F": 2},
]
LARGE = [{"B": 2, "H": 9, "W": 37, "C": 67, "F": 131}]


@intent.kernel
def conv2d(
    x: I.In[I.f16, ("B", "H", "W", "C")],
    w: I.In[I.f16, (TAPS, TAPS, "C", "F")],
    bias: I.In[I.f16, ("F",)],
    out: I.Out[I.f16, ("B", "H", "W", "F")],
):
    B, H, W, C = x.shape
    F = w.shape[3]
    columns = I.domain(0, W)
    channels = I.domain(0, C)
    filters = I.domain(0, F)
    for b, i in I.parallel((I.domain(0, B), I.domain(0, H))):
        total = I.zeros((W, F), I.f32)
        for r in range(TAPS):
            for s in range(TAPS):
                y = i + r - 1
                j = I.indices(columns) + s - 1
                inside = (y >= 0) & (y < H) & (j >= 0) & (j < W)
                patch = I.gather(x, (b, y, j, channels), valid=inside[:, None])
                total = total + I.matmul(patch, w[r, s, channels, filters], acc_dtype=I.f32)
        out[b, i, columns, filters] = I.cast(total + I.cast(bias[filters], I.f32), I.f16)


def reference(x, w, bias):
    import numpy as np

    B, H, W, C = x.shape
    padded = np.zeros((B, H + 2, W + 2, C))
    padded[:, 1:-1, 1:-1] = x
    total = np.zeros((B, H, W, w.shape[3])) + bias.astype(np.float64)
    for r in range(TAPS):
        for s in range(TAPS):
            total += padded[:, r : r + H, s : s + W] @ w[r, s].astype(np.float64)
    return total.astype(np.float16)
