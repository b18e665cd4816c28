"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def softmax(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
    scale: I.f32,
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_term = x[m, n] * scale
        x_max = I.reduce.max(x_term, axis=0)
        exp_x = I.exp(x_term - x_max)
        x_sum = I.reduce.sum(exp_x, axis=0)
        out[m, n] = exp_x / x_sum
