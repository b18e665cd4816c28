"""Layer normalisation of f32 rows; mean and reciprocal deviation are kept for the backward pass."""

import intent
import intent.language as I


@intent.kernel
def layer_norm(
    x: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    bias: I.In[I.f32, ("N",)],
    eps: I.f32,
    out: I.Out[I.f32, ("M", "N")],
    mean: I.Out[I.f32, ("M",)],
    inverse_deviation: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    columns = I.domain(0, N)
    count = I.cast(N, I.f32)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        centre = I.reduce.sum(v, axis=0) / count
        centred = v - centre
        variance = I.reduce.sum(centred * centred, axis=0) / count
        scale = I.rsqrt(variance + eps)
        out[row, columns] = centred * scale * weight[columns] + bias[columns]
        mean[row] = centre
        inverse_deviation[row] = scale


def reference(x, weight, bias, eps):
    import numpy as np

    v = x.astype(np.float64)
    count = np.float64(x.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = np.sum(v, axis=1) / count
        centred = v - centre[:, None]
        scale = 1.0 / np.sqrt(np.sum(centred * centred, axis=1) / count + eps)
    out = centred * scale[:, None] * weight + bias
    return out.astype(np.float32), centre.astype(np.float32), scale.astype(np.float32)
