"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def log_softmax(
    x: I.In[I.f16, ("M", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_f32 = I.cast(x[m, n], I.f32)
        x_max = I.reduce.max(x_f32, axis=0)
        x_term = x_f32 - x_max
        x_sum = I.reduce.sum(I.exp(x_term), axis=0)
        out[m, n] = I.cast(x_term - I.log(x_sum), I.f16)
