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
        index_value = index[t]
        out[t, d] = (
            I.gather(table, (I.cast(index_value, I.index), d), valid=(0 <= I.cast(index_value, I.index)) & (I.cast(index_value, I.index) < V), fill=missing)
        )
