"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def transpose(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("N", "M")],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    out[n, m] = I.transpose(x[m, n], (1, 0))
