"""Gradient of RMS normalisation with respect to its input, and every row's share of the weight's gradient.

With r = 1 / sqrt(mean(x²) + eps) and g = dy * weight:  dx = r * (g - x * r² * mean(g * x)).
"""

import intent
import intent.language as I


@intent.kernel
def rms_norm_backward(
    x: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    dy: I.In[I.f32, ("M", "N")],
    eps: I.f32,
    dx: I.Out[I.f32, ("M", "N")],
    row_weight: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    n = I.domain(0, N)
    count = I.cast(N, I.f32)
    for m in I.parallel(I.domain(0, M)):
        v = x[m, n]
        scale = I.rsqrt(I.reduce.sum(v * v, axis=0) / count + eps)
        normalised = v * scale
        g = dy[m, n] * weight[n]
        dx[m, n] = scale * (g - normalised * (I.reduce.sum(g * normalised, axis=0) / count))
        row_weight[m, n] = dy[m, n] * normalised


def reference(x, weight, dy, eps):
    import numpy as np

    v, upstream = x.astype(np.float64), dy.astype(np.float64)
    scale = 1.0 / np.sqrt(np.mean(v * v, axis=1, keepdims=True) + eps)
    normalised = v * scale
    g = upstream * weight
    dx = scale * (g - normalised * np.mean(g * normalised, axis=1, keepdims=True))
    return dx.astype(np.float32), (upstream * normalised).astype(np.float32)
