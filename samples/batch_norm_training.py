"""Batch normalisation of a training step, channels first: statistics of the batch, and running ones for inference.

A channel's statistics run over images and pixels. The running mean and variance move towards them by `momentum`; the
running variance takes the unbiased estimate, as training frameworks do.
"""

import intent
import intent.language as I

CASES = [
    {"B": 3, "C": 5, "P": 19},
    {"B": 4, "C": 4, "P": 16},
    {"B": 2, "C": 1, "P": 1},
    {"B": 2, "C": 0, "P": 3},
]
LARGE = [{"B": 7, "C": 37, "P": 517}]


@intent.kernel
def batch_norm_training(
    x: I.In[I.f32, ("B", "C", "P")],
    weight: I.In[I.f32, ("C",)],
    bias: I.In[I.f32, ("C",)],
    running_mean: I.InOut[I.f32, ("C",)],
    running_variance: I.InOut[I.f32, ("C",)],
    momentum: I.f32,
    eps: I.f32,
    out: I.Out[I.f32, ("B", "C", "P")],
):
    B, C, P = x.shape
    images = I.domain(0, B)
    pixels = I.domain(0, P)
    count = I.cast(B * P, I.f32)
    for c in I.parallel(I.domain(0, C)):
        v = x[images, c, pixels]
        mean = I.reduce.sum(v, axis=(0, 1)) / count
        centred = v - mean
        variance = I.reduce.sum(centred * centred, axis=(0, 1)) / count
        out[images, c, pixels] = centred * I.rsqrt(variance + eps) * weight[c] + bias[c]
        running_mean[c] += momentum * (mean - running_mean[c])
        running_variance[c] += momentum * (variance * count / (count - 1.0) - running_variance[c])


def reference(x, weight, bias, running_mean, running_variance, momentum, eps):
    import numpy as np

    v = x.astype(np.float64)
    count = x.shape[0] * x.shape[2]
    mean = v.mean(axis=(0, 2))
    variance = v.var(axis=(0, 2))
    centred = v - mean[:, None]
    out = centred / np.sqrt(variance + eps)[:, None] * weight[:, None] + bias[:, None]
    new_mean = running_mean + momentum * (mean - running_mean)
    new_variance = running_variance + momentum * (variance * count / (count - 1) - running_variance)
    return new_mean.astype(np.float32), new_variance.astype(np.float32), out.astype(np.float32)
