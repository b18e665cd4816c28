"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def embedding(
    tokens: I.In[I.i64, ("T",)],
    table: I.In[I.bf16, ("V", "D")],
    positions: I.In[I.bf16, ("T", "D")],
    out: I.Out[I.bf16, ("T", "D")],
):
    T = tokens.shape[0]
    V, D = table.shape
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        tokens_value = I.cast(tokens[t], I.index)
        out[t, d] = I.cast(
            I.cast(I.gather(table, (tokens_value, d), valid=(0 <= tokens_value) & (tokens_value < V), fill=0.0), I.f32)
            + I.cast(positions[t, d], I.f32),
            I.bf16,
        )
