"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def embedding_bag(
    table: I.In[I.f32, ("V", "D")],
    entry: I.In[I.i32, ("E",)],
    weight: I.In[I.f32, ("E",)],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("B", "D")],
):
    V, D = table.shape
    E = entry.shape[0]
    P = offsets.shape[0]
    B = out.shape[0]
    d = I.domain(0, D)
    for b in I.parallel(I.domain(0, B)):
        members = I.domain(
            I.maximum(0, I.cast(I.gather(offsets, (b,), valid=b < P, fill=0), I.index)),
            I.minimum(E, I.cast(I.gather(offsets, (b + 1,), valid=b + 1 < P, fill=0), I.index)),
        )
        entry_values = I.cast(entry[members], I.index)
        out[b, d] = I.reduce.sum(
            I.gather(table, (entry_values, d), valid=((0 <= entry_values) & (entry_values < V))[:, None], fill=0.0)
            * weight[members][:, None],
            axis=0,
        )
