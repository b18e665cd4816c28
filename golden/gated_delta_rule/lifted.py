"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def gated_delta_rule_state(
    query: I.In[I.f32, ("B", "T", "H", "D")],
    key: I.In[I.f32, ("B", "T", "H", "D")],
    value: I.In[I.f32, ("B", "T", "H", "E")],
    gate: I.In[I.f32, ("B", "T", "H")],
    strength: I.In[I.f32, ("B", "T", "H")],
    state: I.InOut[I.f32, ("B", "H", "D", "E")],
    out: I.Out[I.f32, ("B", "T", "H", "E")],
):
    B, T, H, D = query.shape
    E = value.shape[3]
    d = I.domain(0, D)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for e in I.parallel(I.domain(0, E)):
                held = state[b, h, d, e]
                for t in range(T):
                    gate_term = held * I.exp(gate[b, t, h])
                    key_values = key[b, t, h, d]
                    gate_sum = I.reduce.sum(key_values * gate_term, axis=0)
                    held = gate_term + key_values * (strength[b, t, h] * (value[b, t, h, e] - gate_sum))
                    out[b, t, h, e] = I.reduce.sum(query[b, t, h, d] * held, axis=0)
                state[b, h, d, e] = held
