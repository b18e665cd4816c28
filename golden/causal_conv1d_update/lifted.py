"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def causal_conv1d_update(
    x: I.In[I.f32, ("B", "C")],
    weight: I.In[I.f32, ("C", 4)],
    bias: I.In[I.f32, ("C",)],
    state: I.InOut[I.f32, ("B", "C", 3)],
    out: I.Out[I.f32, ("B", "C")],
):
    B, C = x.shape
    coordinates = I.domain(0, 3)
    for b in I.parallel(I.domain(0, B)):
        for c in I.parallel(I.domain(0, C)):
            weight_sum = I.reduce.sum(state[b, c, coordinates] * weight[c, coordinates], axis=0)
            weight_term = bias[c] + x[b, c] * weight[c, 3] + weight_sum
            out[b, c] = weight_term * I.sigmoid(weight_term)
    for b in I.parallel(I.domain(0, B)):
        for c in I.parallel(I.domain(0, C)):
            for tap_2 in range(2):
                state_value = state[b, c, tap_2 + 1]
                state[b, c, tap_2] = state_value
    for b in I.parallel(I.domain(0, B)):
        for c in I.parallel(I.domain(0, C)):
            state[b, c, 2] = x[b, c]
