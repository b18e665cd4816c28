"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def dual_gemm(
    x: I.In[I.f16, ("M", "K")],
    gate: I.In[I.f16, ("K", "N")],
    up: I.In[I.f16, ("K", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, K = x.shape
    N = gate.shape[1]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    x_values = x[m, k]
    product = I.matmul(x_values, up[k, n], acc_dtype=I.f32)
    product_2 = I.matmul(x_values, gate[k, n], acc_dtype=I.f32)
    out[m, n] = I.cast(product_2 * I.sigmoid(product_2) * product, I.f16)
