"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def logsumexp(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    x_values = x[m, n]
    x_max = I.reduce.max(x_values, axis=1)
    x_term = I.select(x_max > -I.inf, x_max, 0.0)
    x_sum = I.reduce.sum(I.exp(x_values - x_term[:, None]), axis=1)
    out[m] = x_term + I.log(x_sum)
