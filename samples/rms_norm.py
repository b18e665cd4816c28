"""Root-mean-square normalisation of f16 rows with a weight; the reciprocal root is kept for the backward pass."""

import intent
import intent.language as I


@intent.kernel
def rms_norm(
    x: I.In[I.f16, ("M", "N")],
    weight: I.In[I.f16, ("N",)],
    eps: I.f32,
    out: I.Out[I.f16, ("M", "N")],
    inverse_rms: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    v = I.cast(x[m, n], I.f32)
    scale = I.rsqrt(I.reduce.sum(v * v, axis=1) / I.cast(N, I.f32) + eps)
    inverse_rms[m] = scale
    out[m, n] = I.cast(v * I.reshape(scale, (M, 1)) * I.cast(weight[n], I.f32), I.f16)


def reference(x, weight, eps):
    import numpy as np

    v = x.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1.0 / np.sqrt(np.sum(v * v, axis=1) / np.float64(x.shape[1]) + eps)
    return (v * scale[:, None] * weight).astype(np.float16), scale.astype(np.float32)
