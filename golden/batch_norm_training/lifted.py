"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def batch_norm_training(
    x: I.In[I.f32, ("B", "C", "P")],
    weight: I.In[I.f32, ("C",)],
    bias: I.In[I.f32, ("C",)],
    running_mean: I.InOut[I.f32, ("C",)],
    running_variance: I.InOut[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "C", "P")],
    momentum: I.f32,
    eps: I.f32,
):
    B, C, P = x.shape
    b = I.domain(0, B)
    p = I.domain(0, P)
    for c in I.parallel(I.domain(0, C)):
        running_mean_value = running_mean[c]
        x_values = x[b, c, p]
        x_sum = I.reduce.sum(x_values, axis=(0, 1))
        x_mean = x_sum / I.cast(B * P, I.f32)
        running_mean[c] = running_mean_value + momentum * (x_mean - running_mean_value)
        running_variance_value = running_variance[c]
        x_term = x_values - x_mean
        x_sum_2 = I.reduce.sum(x_term * x_term, axis=(0, 1))
        x_mean_2 = x_sum_2 / I.cast(B * P, I.f32)
        running_variance[c] = running_variance_value + momentum * (
            x_mean_2 * I.cast(B * P, I.f32) / (I.cast(B * P, I.f32) - 1.0) - running_variance_value
        )
        out[b, c, p] = x_term * I.rsqrt(x_mean_2 + eps) * weight[c] + bias[c]
