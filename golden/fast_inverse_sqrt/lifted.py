"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def fast_inverse_sqrt(
    x: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("N",)],
):
    N = x.shape[0]
    n = I.domain(0, N)
    x_values = x[n]
    x_term = I.bitcast(1597463007 - (I.bitcast(x_values, I.i32) >> 1), I.f32)
    x_term_2 = 0.5 * x_values
    x_term_3 = x_term * (1.5 - x_term_2 * x_term * x_term)
    out[n] = x_term_3 * (1.5 - x_term_2 * x_term_3 * x_term_3)
