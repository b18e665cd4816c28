"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def causal_conv1d(
    x: I.In[I.f32, ("B", "T", "C")],
    w: I.In[I.f32, ("C", 4)],
    bias: I.In[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "T", "C")],
):
    B, T, C = x.shape
    b = I.domain(0, B)
    c = I.domain(0, C)
    for t in I.parallel(I.domain(0, T)):
        members = I.domain(I.maximum(0, 3 - t), 4)
        w_sum = I.reduce.sum(x[b, t + I.indices(members) - 3, c] * I.transpose(w[c, members], (1, 0)), axis=1)
        out[b, t, c] = w_sum + bias[c]
