"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def norm_linear(
    x: I.In[I.f16, ("M", "K")],
    w: I.In[I.f16, ("K", "N")],
    out: I.Out[I.f16, ("M", "N")],
    eps: I.f32,
):
    M, K = x.shape
    N = w.shape[1]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    x_values = x[m, k]
    x_f32 = I.cast(x_values, I.f32)
    x_sum = I.reduce.sum(x_f32 * x_f32, axis=1)
    product = I.matmul(x_values, w[k, n], acc_dtype=I.f32)
    out[m, n] = I.cast(product * I.rsqrt(x_sum / I.cast(K, I.f32) + eps)[:, None], I.f16)
