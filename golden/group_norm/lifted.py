"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def group_norm(
    x: I.In[I.f32, ("B", 2, "C", "P")],
    weight: I.In[I.f32, (2, "C")],
    bias: I.In[I.f32, (2, "C")],
    out: I.Out[I.f32, ("B", 2, "C", "P")],
    eps: I.f32,
):
    B = x.shape[0]
    C = x.shape[2]
    P = x.shape[3]
    c = I.domain(0, C)
    p = I.domain(0, P)
    for b in I.parallel(I.domain(0, B)):
        for group in I.parallel(I.domain(0, 2)):
            x_values = x[b, group, c, p]
            x_sum = I.reduce.sum(x_values, axis=(0, 1))
            x_term = x_values - x_sum / I.cast(C * P, I.f32)
            x_sum_2 = I.reduce.sum(x_term * x_term, axis=(0, 1))
            out[b, group, c, p] = (
                x_term * I.rsqrt(x_sum_2 / I.cast(C * P, I.f32) + eps) * weight[group, c][:, None]
                + bias[group, c][:, None]
            )
