"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def gelu(
    x: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("N",)],
    slope: I.Out[I.f32, ("N",)],
):
    N = x.shape[0]
    n = I.domain(0, N)
    x_values = x[n]
    tanh_x = I.tanh(0.7978846 * (x_values + 0.044715 * x_values * x_values * x_values))
    x_term = 1.0 + tanh_x
    x_term_2 = 0.5 * x_values
    out[n] = x_term_2 * x_term
    slope[n] = 0.5 * x_term + x_term_2 * (1.0 - tanh_x * tanh_x) * 0.7978846 * (1.0 + 0.134145 * x_values * x_values)
