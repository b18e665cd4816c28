"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def softplus(
    x: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("N",)],
    mish: I.Out[I.f32, ("N",)],
):
    N = x.shape[0]
    n = I.domain(0, N)
    x_values = x[n]
    x_term = I.maximum(x_values, 0.0) + I.log1p(I.exp(I.abs(x_values) * -1.0))
    out[n] = x_term
    mish[n] = x_values * I.tanh(x_term)
