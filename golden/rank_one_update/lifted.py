"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rank_one_update(
    x: I.In[I.f32, ("M",)],
    y: I.In[I.f32, ("N",)],
    a: I.InOut[I.f32, ("M", "N")],
    alpha: I.f32,
):
    M = x.shape[0]
    N = y.shape[0]
    m = I.domain(0, M)
    n = I.domain(0, N)
    a[m, n] = a[m, n] + alpha * (x[m][:, None] * y[n])
