"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def saxpy(
    x: I.In[I.f32, ("N",)],
    y: I.InOut[I.f32, ("N",)],
    a: I.f32,
):
    N = x.shape[0]
    n = I.domain(0, N)
    y[n] = a * x[n] + y[n]
