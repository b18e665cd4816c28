"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def take_rows(
    table: I.In[I.f32, ("V", "D")],
    index: I.In[I.i32, ("T",)],
    out: I.Out[I.f32, ("T", "D")],
    missing: I.f32,
):
    V, D = table.shape
    T = index.shape[0]
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        index_value = I.cast(index[t], I.index)
        out[t, d] = I.gather(table, (index_value, d), valid=(0 <= index_value) & (index_value < V), fill=missing)
