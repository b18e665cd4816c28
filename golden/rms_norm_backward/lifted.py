"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rms_norm_backward(
    x: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    dy: I.In[I.f32, ("M", "N")],
    dx: I.Out[I.f32, ("M", "N")],
    row_weight: I.Out[I.f32, ("M", "N")],
    eps: I.f32,
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_values = x[m, n]
        x_sum = I.reduce.sum(x_values * x_values, axis=0)
        rsqrt_x = I.rsqrt(x_sum / I.cast(N, I.f32) + eps)
        x_term = x_values * rsqrt_x
        dy_values = dy[m, n]
        weight_term = dy_values * weight[n]
        x_sum_2 = I.reduce.sum(weight_term * x_term, axis=0)
        dx[m, n] = rsqrt_x * (weight_term - x_term * (x_sum_2 / I.cast(N, I.f32)))
        row_weight[m, n] = dy_values * x_term
