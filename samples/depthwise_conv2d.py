"""Depthwise 3 x 3 convolution, channels last, one pixel of zero padding, clipped to numbers between 0 and 6."""

import intent
import intent.language as I

CASES = [
    {"B": 1, "H": 3, "W": 5, "C": 19},
    {"B": 2, "H": 2, "W": 4, "C": 32},
    {"B": 1, "H": 1, "W": 1, "C": 1},
    {"B": 0, "H": 3, "W": 3, "C": 4},
    {"B": 1, "H": 2, "W": 2, "C": 0},
]
LARGE = [{"B": 2, "H": 17, "W": 33, "C": 131}]


@intent.kernel
def depthwise_conv2d(
    x: I.In[I.f32, ("B", "H", "W", "C")],
    weight: I.In[I.f32, (3, 3, "C")],
    bias: I.In[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "H", "W", "C")],
):
    B, H, W, C = x.shape
    c = I.domain(0, C)
    for b, h, w in I.parallel((I.domain(0, B), I.domain(0, H), I.domain(0, W))):
        total = bias[c]
        for r in range(3):
            for s in range(3):
                i = h + r - 1
                j = w + s - 1
                inside = (i >= 0) and (i < H) and (j >= 0) and (j < W)
                total = total + I.gather(x, (b, i, j, c), valid=inside) * weight[r, s, c]
        out[b, h, w, c] = I.minimum(I.maximum(total, 0.0), 6.0)


def reference(x, weight, bias):
    import numpy as np

    B, H, W, C = x.shape
    padded = np.zeros((B, H + 2, W + 2, C))
    padded[:, 1 : H + 1, 1 : W + 1] = x
    total = bias + sum(padded[:, r : r + H, s : s + W] * weight[r, s] for r in range(3) for s in range(3))
    return np.clip(total, 0.0, 6.0).astype(np.float32)
