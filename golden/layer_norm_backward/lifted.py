"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def layer_norm_backward_state(
    x: I.In[I.f32, ("G", 4, "N")],
    dy: I.In[I.f32, ("G", 4, "N")],
    weight: I.In[I.f32, ("N",)],
    mean: I.In[I.f32, ("G", 4)],
    inverse_deviation: I.In[I.f32, ("G", 4)],
    dx: I.Out[I.f32, ("G", 4, "N")],
    d_weight: I.Out[I.f32, ("G", "N")],
    d_bias: I.Out[I.f32, ("G", "N")],
):
    G = x.shape[0]
    N = x.shape[2]
    n = I.domain(0, N)
    coordinates = I.domain(0, 4)
    for g in I.parallel(I.domain(0, G)):
        for group in I.parallel(I.domain(0, 4)):
            inverse_deviation_value = inverse_deviation[g, group]
            inverse_deviation_term = (x[g, group, n] - mean[g, group]) * inverse_deviation_value
            weight_term = dy[g, group, n] * weight[n]
            inverse_deviation_sum = I.reduce.sum(weight_term * inverse_deviation_term, axis=0)
            weight_sum = I.reduce.sum(weight_term, axis=0)
            dx[g, group, n] = (
                weight_term
                - weight_sum / I.cast(N, I.f32)
                - inverse_deviation_term * (inverse_deviation_sum / I.cast(N, I.f32))
            ) * inverse_deviation_value
    for g in I.parallel(I.domain(0, G)):
        dy_values = dy[g, coordinates, n]
        d_weight[g, n] = I.reduce.sum(
            dy_values
            * ((x[g, coordinates, n] - mean[g, coordinates][:, None]) * inverse_deviation[g, coordinates][:, None]),
            axis=0,
        )
        d_bias[g, n] = I.reduce.sum(dy_values, axis=0)
