"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def permute_rows(
    x: I.In[I.f32, ("T", "D")],
    position: I.In[I.i64, ("T",)],
    out: I.Out[I.f32, ("T", "D")],
):
    T, D = x.shape
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        position_value = I.cast(position[t], I.index)
        if (0 <= position_value) & (position_value < T):
            out[position_value, d] = x[t, d]
