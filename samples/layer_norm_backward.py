"""Gradient of layer normalisation: dx per row, the weight's and bias' gradients as partial sums of groups of rows.

The partial sums are [G, N]; adding them up is left to the caller, or to a second kernel.
"""

import intent
import intent.language as I

ROWS = 4

CASES = [
    {"G": 2, "N": 37},
    {"G": 3, "N": 32},
    {"G": 1, "N": 1},
    {"G": 0, "N": 5},
    {"G": 2, "N": 0},
]
LARGE = [{"G": 17, "N": 517}]


@intent.kernel
def layer_norm_backward(
    x: I.In[I.f32, ("G", ROWS, "N")],
    dy: I.In[I.f32, ("G", ROWS, "N")],
    weight: I.In[I.f32, ("N",)],
    mean: I.In[I.f32, ("G", ROWS)],
    inverse_deviation: I.In[I.f32, ("G", ROWS)],
    dx: I.Out[I.f32, ("G", ROWS, "N")],
    d_weight: I.Out[I.f32, ("G", "N")],
    d_bias: I.Out[I.f32, ("G", "N")],
):
    G, _, N = x.shape
    n = I.domain(0, N)
    count = I.cast(N, I.f32)
    for g in I.parallel(I.domain(0, G)):
        weight_sum = I.zeros((N,), I.f32)
        bias_sum = I.zeros((N,), I.f32)
        for r in range(ROWS):
            normalised = (x[g, r, n] - mean[g, r]) * inverse_deviation[g, r]
            upstream = dy[g, r, n]
            gradient = upstream * weight[n]
            average = I.reduce.sum(gradient, axis=0) / count
            projection = I.reduce.sum(gradient * normalised, axis=0) / count
            dx[g, r, n] = (gradient - average - normalised * projection) * inverse_deviation[g, r]
            weight_sum = weight_sum + upstream * normalised
            bias_sum = bias_sum + upstream
        d_weight[g, n] = weight_sum
        d_bias[g, n] = bias_sum


def reference(x, dy, weight, mean, inverse_deviation):
    import numpy as np

    deviation = inverse_deviation[:, :, None].astype(np.float64)
    normalised = (x - mean[:, :, None]) * deviation
    gradient = dy * weight.astype(np.float64)
    count = max(x.shape[2], 1)
    average = gradient.sum(axis=2, keepdims=True) / count
    projection = (gradient * normalised).sum(axis=2, keepdims=True) / count
    dx = (gradient - average - normalised * projection) * deviation
    d_bias = dy.astype(np.float64).sum(axis=1)
    return dx.astype(np.float32), (dy * normalised).sum(axis=1).astype(np.float32), d_bias.astype(np.float32)
