"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def online_softmax(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_values = x[m, n]
        x_max = I.reduce.max(x_values, axis=0)
        x_sum = I.reduce.sum(I.exp(x_values - I.select(x_max == -I.inf, 0.0, x_max)), axis=0)
        out[m, n] = I.exp(x_values - x_max) / x_sum
