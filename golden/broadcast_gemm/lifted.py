"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def broadcast_gemm(
    x: I.In[I.f16, ("B", "M", "K")],
    w: I.In[I.f16, ("H", "K", "N")],
    out: I.Out[I.f16, ("B", "H", "M", "N")],
):
    B, M, K = x.shape
    H = w.shape[0]
    N = w.shape[2]
    b = I.domain(0, B)
    m = I.domain(0, M)
    k = I.domain(0, K)
    h = I.domain(0, H)
    n = I.domain(0, N)
    product = I.contract(x[b, m, k], w[h, k, n], reduce=((2, 1),), acc_dtype=I.f32)
    out[b, h, m, n] = I.transpose(I.cast(product, I.f16), (0, 2, 1, 3))
