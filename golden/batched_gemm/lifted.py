"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def batched_gemm(
    a: I.In[I.f32, ("B", "M", "K")],
    b: I.In[I.f32, ("B", "K", "N")],
    c: I.Out[I.f32, ("B", "M", "N")],
):
    B, M, K = a.shape
    N = b.shape[2]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    for b_2 in I.parallel(I.domain(0, B)):
        c[b_2, m, n] = I.matmul(a[b_2, m, k], b[b_2, k, n], acc_dtype=I.f32)
