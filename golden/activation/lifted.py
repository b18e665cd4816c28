"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def activation(
    x: I.In[I.f32, ("M", "N")],
    bias: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    bias_term = x[m, n] + bias[n]
    out[m, n] = bias_term * I.sigmoid(bias_term)
