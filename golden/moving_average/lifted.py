"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def moving_average(
    x: I.In[I.f32, ("B", "T", "C")],
    decay: I.In[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "T", "C")],
    last: I.Out[I.f32, ("B", "C")],
):
    B, T, C = x.shape
    c = I.domain(0, C)
    for b in I.parallel(I.domain(0, B)):
        state = I.zeros((C,), I.f32)
        for t in range(T):
            decay_values = decay[c]
            state = decay_values * state + (1.0 - decay_values) * x[b, t, c]
            out[b, t, c] = state
        last[b, c] = state
