"""Group normalisation of NCHW images: statistics over the channels of a group and all of its pixels."""

import intent
import intent.language as I

GROUPS = 2

CASES = [
    {"B": 2, "C": 3, "P": 19},
    {"B": 1, "C": 4, "P": 32},
    {"B": 1, "C": 1, "P": 1},
    {"B": 0, "C": 2, "P": 4},
    {"B": 1, "C": 2, "P": 0},
]
LARGE = [{"B": 5, "C": 13, "P": 517}]


@intent.kernel
def group_norm(
    x: I.In[I.f32, ("B", GROUPS, "C", "P")],
    weight: I.In[I.f32, (GROUPS, "C")],
    bias: I.In[I.f32, (GROUPS, "C")],
    eps: I.f32,
    out: I.Out[I.f32, ("B", GROUPS, "C", "P")],
):
    B, _, C, P = x.shape
    channels = I.domain(0, C)
    pixels = I.domain(0, P)
    count = I.cast(C * P, I.f32)
    for b, g in I.parallel((I.domain(0, B), I.domain(0, GROUPS))):
        v = x[b, g, channels, pixels]
        centred = v - I.reduce.sum(v, axis=(0, 1)) / count
        scale = I.rsqrt(I.reduce.sum(centred * centred, axis=(0, 1)) / count + eps)
        w = I.reshape(weight[g, channels], (C, 1))
        out[b, g, channels, pixels] = centred * scale * w + I.reshape(bias[g, channels], (C, 1))


def reference(x, weight, bias, eps):
    import numpy as np

    v = x.astype(np.float64)
    count = max(x.shape[2] * x.shape[3], 1)
    centred = v - np.sum(v, axis=(2, 3), keepdims=True) / count
    scale = 1.0 / np.sqrt(np.sum(centred * centred, axis=(2, 3), keepdims=True) / count + eps)
    return (centred * scale * weight[:, :, None] + bias[:, :, None]).astype(np.float32)
