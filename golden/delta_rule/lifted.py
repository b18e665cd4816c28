"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def delta_rule_state(
    query: I.In[I.f32, ("B", "T", "D")],
    key: I.In[I.f32, ("B", "T", "D")],
    value: I.In[I.f32, ("B", "T", "E")],
    strength: I.In[I.f32, ("B", "T")],
    out: I.Out[I.f32, ("B", "T", "E")],
):
    B, T, D = query.shape
    E = value.shape[2]
    d = I.domain(0, D)
    e = I.domain(0, E)
    for b in I.parallel(I.domain(0, B)):
        state = I.zeros((D, E), I.f32)
        for t in range(T):
            key_values = key[b, t, d]
            key_sum = I.reduce.sum(key_values[:, None] * state, axis=0)
            state = state + key_values[:, None] * (strength[b, t] * (value[b, t, e] - key_sum))
            out[b, t, e] = I.reduce.sum(query[b, t, d][:, None] * state, axis=0)
