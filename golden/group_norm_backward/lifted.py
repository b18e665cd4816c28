"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def group_norm_backward(
    x: I.In[I.f32, ("B", 3, "C", "P")],
    dy: I.In[I.f32, ("B", 3, "C", "P")],
    weight: I.In[I.f32, (3, "C")],
    mean: I.In[I.f32, ("B", 3)],
    inverse_deviation: I.In[I.f32, ("B", 3)],
    dx: I.Out[I.f32, ("B", 3, "C", "P")],
):
    B = x.shape[0]
    C = x.shape[2]
    P = x.shape[3]
    c = I.domain(0, C)
    p = I.domain(0, P)
    for b in I.parallel(I.domain(0, B)):
        for group in I.parallel(I.domain(0, 3)):
            inverse_deviation_value = inverse_deviation[b, group]
            inverse_deviation_term = (x[b, group, c, p] - mean[b, group]) * inverse_deviation_value
            weight_term = dy[b, group, c, p] * weight[group, c][:, None]
            inverse_deviation_sum = I.reduce.sum(weight_term * inverse_deviation_term, axis=(0, 1))
            weight_sum = I.reduce.sum(weight_term, axis=(0, 1))
            dx[b, group, c, p] = (
                weight_term
                - weight_sum / I.cast(C * P, I.f32)
                - inverse_deviation_term * (inverse_deviation_sum / I.cast(C * P, I.f32))
            ) * inverse_deviation_value
