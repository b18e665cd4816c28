"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def addcmul(
    x: I.In[I.f32, ("M", "N")],
    a: I.In[I.f32, ("M",)],
    b: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("M", "N")],
    value: I.f32,
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    out[m, n] = x[m, n] + (value * a[m])[:, None] * b[n]
