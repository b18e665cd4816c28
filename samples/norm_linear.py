"""RMS normalisation folded into the projection that follows it: out = (x / rms(x)) @ w."""

import intent
import intent.language as I


@intent.kernel
def norm_linear(
    x: I.In[I.f16, ("M", "K")],
    w: I.In[I.f16, ("K", "N")],
    eps: I.f32,
    out: I.Out[I.f16, ("M", "N")],
):
    M, K = x.shape
    N = w.shape[1]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, K)
    v = I.cast(x[m, k], I.f32)
    scale = I.rsqrt(I.reduce.sum(v * v, axis=1) / I.cast(K, I.f32) + eps)
    product = I.matmul(x[m, k], w[k, n], acc_dtype=I.f32)
    out[m, n] = I.cast(product * I.reshape(scale, (M, 1)), I.f16)


def reference(x, w, eps):
    import numpy as np

    v = x.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1.0 / np.sqrt(np.sum(v * v, axis=1, keepdims=True) / np.float64(x.shape[1]) + eps)
        return (v @ w.astype(np.float64) * scale).astype(np.float16)
