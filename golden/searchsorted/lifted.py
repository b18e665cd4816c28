"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def searchsorted(
    edges: I.In[I.f32, ("E",)],
    values: I.In[I.f32, ("N",)],
    out: I.Out[I.i64, ("N",)],
):
    E = edges.shape[0]
    N = values.shape[0]
    for n in I.parallel(I.domain(0, N)):
        high = E
        low = I.cast(0, I.index)
        while low < high:
            values_term = (
                I.gather(
                    edges, ((high + low) // 2,), valid=(0 <= (high + low) // 2) & ((high + low) // 2 < E), fill=0.0
                )
                <= values[n]
            )
            next_high = I.select(values_term, high, (high + low) // 2)
            next_low = I.select(values_term, (high + low) // 2 + 1, low)
            high = next_high
            low = next_low
        out[n] = I.cast(low, I.i64)
