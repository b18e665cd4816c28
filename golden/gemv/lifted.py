"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def gemv(
    a: I.In[I.f32, ("M", "K")],
    x: I.In[I.f32, ("K",)],
    y: I.InOut[I.f32, ("M",)],
    alpha: I.f32,
    beta: I.f32,
):
    M, K = a.shape
    m = I.domain(0, M)
    k = I.domain(0, K)
    x_sum = I.reduce.sum(a[m, k] * x[k], axis=1)
    y[m] = alpha * x_sum + beta * y[m]
