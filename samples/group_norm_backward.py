"""Gradient of group normalisation with respect to its input, with the statistics kept from the forward pass."""

import intent
import intent.language as I

GROUPS = 3

CASES = [
    {"B": 2, "C": 3, "P": 19},
    {"B": 1, "C": 4, "P": 32},
    {"B": 1, "C": 1, "P": 1},
    {"B": 0, "C": 2, "P": 4},
    {"B": 1, "C": 2, "P": 0},
]
LARGE = [{"B": 5, "C": 13, "P": 517}]


@intent.kernel
def group_norm_backward(
    x: I.In[I.f32, ("B", GROUPS, "C", "P")],
    dy: I.In[I.f32, ("B", GROUPS, "C", "P")],
    weight: I.In[I.f32, (GROUPS, "C")],
    mean: I.In[I.f32, ("B", GROUPS)],
    inverse_deviation: I.In[I.f32, ("B", GROUPS)],
    dx: I.Out[I.f32, ("B", GROUPS, "C", "P")],
):
    B, _, C, P = x.shape
    channels = I.domain(0, C)
    pixels = I.domain(0, P)
    count = I.cast(C * P, I.f32)
    for b, g in I.parallel((I.domain(0, B), I.domain(0, GROUPS))):
        normalised = (x[b, g, channels, pixels] - mean[b, g]) * inverse_deviation[b, g]
        gradient = dy[b, g, channels, pixels] * weight[g, channels][:, None]
        average = I.reduce.sum(gradient, axis=(0, 1)) / count
        projection = I.reduce.sum(gradient * normalised, axis=(0, 1)) / count
        dx[b, g, channels, pixels] = (gradient - average - normalised * projection) * inverse_deviation[b, g]


def reference(x, dy, weight, mean, inverse_deviation):
    import numpy as np

    deviation = inverse_deviation[:, :, None, None].astype(np.float64)
    normalised = (x - mean[:, :, None, None]) * deviation
    gradient = dy * weight[None, :, :, None].astype(np.float64)
    count = max(x.shape[2] * x.shape[3], 1)
    average = gradient.sum(axis=(2, 3), keepdims=True) / count
    projection = (gradient * normalised).sum(axis=(2, 3), keepdims=True) / count
    return ((gradient - average - normalised * projection) * deviation).astype(np.float32)
