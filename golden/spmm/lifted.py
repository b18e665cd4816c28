"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def spmm(
    offsets: I.In[I.i32, ("P",)],
    columns: I.In[I.i32, ("E",)],
    values: I.In[I.f32, ("E",)],
    x: I.In[I.f32, ("C", "D")],
    out: I.Out[I.f32, ("R", "D")],
):
    P = offsets.shape[0]
    E = columns.shape[0]
    C, D = x.shape
    R = out.shape[0]
    d = I.domain(0, D)
    for r in I.parallel(I.domain(0, R)):
        members = I.domain(
            I.maximum(0, I.cast(I.gather(offsets, (r,), valid=r < P, fill=0), I.index)),
            I.minimum(
                E,
                I.maximum(
                    I.cast(I.gather(offsets, (r,), valid=r < P, fill=0), I.index),
                    I.cast(I.gather(offsets, (r + 1,), valid=r + 1 < P, fill=0), I.index),
                ),
            ),
        )
        offsets_value = I.cast(I.gather(offsets, (r,), valid=r < P, fill=0), I.index)
        columns_values = I.cast(columns[members], I.index)
        out[r, d] = I.reduce.sum(
            values[members][:, None]
            * I.gather(x, (columns_values, d), valid=((0 <= columns_values) & (columns_values < C))[:, None], fill=0.0),
            axis=0,
        )
