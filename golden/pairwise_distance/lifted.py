"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def pairwise_distance(
    x: I.In[I.f32, ("M", "K")],
    y: I.In[I.f32, ("N", "K")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, K = x.shape
    N = y.shape[0]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    y_term = x[m, k][:, None, :] - y[n, k]
    out[m, n] = I.reduce.sum(y_term * y_term, axis=2)
