"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def embedding_bag(
    table: I.In[I.f32, ("V", "D")],
    entry: I.In[I.i32, ("E",)],
    weight: I.In[I.f32, ("E",)],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("M", "D")],
    B: I.index,
    BLOCK_D: I.Constexpr[int] = 1,
):
    V, D = table.shape
    E = entry.shape[0]
    P = offsets.shape[0]
    M = out.shape[0]
    for group in I.parallel(I.domain(0, M)):
        members = (
            I.domain(0, I.minimum(BLOCK_D * I.minimum(B * D - group * ((BLOCK_D + D - 1) // BLOCK_D), (BLOCK_D + D - 1) // BLOCK_D), D))
        )
        members_2 = (
            I.domain(I.cast(I.gather(offsets, (group,), valid=group < P, fill=0), I.index) + I.maximum(0, -I.cast(I.gather(offsets, (group,), valid=group < P, fill=0), I.index)), I.minimum(E, I.cast(I.gather(offsets, (group + 1,), valid=group + 1 < P, fill=0), I.index)))
        )
        entry_values = I.cast(entry[members_2], I.index)
        out[group, members] = (
            I.reduce.sum(I.gather(table, (entry_values, members), valid=((0 <= entry_values) & (entry_values < V))[:, None], fill=0.0) * weight[members_2][:, None], axis=0)
        )
