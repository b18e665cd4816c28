"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def layer_norm(
    x: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    bias: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("M", "N")],
    mean: I.Out[I.f32, ("M",)],
    inverse_deviation: I.Out[I.f32, ("M",)],
    eps: I.f32,
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_values = x[m, n]
        x_sum = I.reduce.sum(x_values, axis=0)
        x_mean = x_sum / I.cast(N, I.f32)
        x_term = x_values - x_mean
        x_sum_2 = I.reduce.sum(x_term * x_term, axis=0)
        rsqrt_x = I.rsqrt(x_sum_2 / I.cast(N, I.f32) + eps)
        out[m, n] = x_term * rsqrt_x * weight[n] + bias[n]
        mean[m] = x_mean
        inverse_deviation[m] = rsqrt_x
