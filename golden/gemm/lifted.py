"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def gemm(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("K", "N")],
    c: I.Out[I.f16, ("M", "N")],
):
    M, K = a.shape
    N = b.shape[1]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    product = I.matmul(a[m, k], b[k, n], acc_dtype=I.f32)
    c[m, n] = I.cast(product, I.f16)
