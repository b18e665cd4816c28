"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def cumsum(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    out[m, n] = I.cumsum(x[m, n], axis=1)
