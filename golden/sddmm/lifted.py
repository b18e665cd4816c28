"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def sddmm(
    row: I.In[I.i32, ("E",)],
    column: I.In[I.i32, ("E",)],
    values: I.In[I.f32, ("E",)],
    a: I.In[I.f16, ("R", "K")],
    b: I.In[I.f16, ("C", "K")],
    out: I.Out[I.f32, ("E",)],
):
    E = row.shape[0]
    R, K = a.shape
    C = b.shape[0]
    k = I.domain(0, K)
    for e in I.parallel(I.domain(0, E)):
        column_value = I.cast(column[e], I.index)
        row_value = I.cast(row[e], I.index)
        column_sum = I.reduce.sum(
            I.cast(I.gather(a, (row_value, k), valid=(0 <= row_value) & (row_value < R), fill=0.0), I.f32)
            * I.cast(I.gather(b, (column_value, k), valid=(0 <= column_value) & (column_value < C), fill=0.0), I.f32),
            axis=0,
        )
        out[e] = values[e] * column_sum
