"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def jagged_mean(
    x: I.In[I.f32, ("T", "D")],
    offsets: I.In[I.i64, ("P",)],
    out: I.Out[I.f32, ("B", "D")],
):
    T, D = x.shape
    P = offsets.shape[0]
    B = out.shape[0]
    d = I.domain(0, D)
    for b in I.parallel(I.domain(0, B)):
        members = I.domain(
            I.maximum(0, I.cast(I.gather(offsets, (b,), valid=b < P, fill=0), I.index)),
            I.minimum(T, I.cast(I.gather(offsets, (b + 1,), valid=b + 1 < P, fill=0), I.index)),
        )
        offsets_value = I.gather(offsets, (b,), valid=b < P, fill=0)
        offsets_value_2 = I.gather(offsets, (b + 1,), valid=b + 1 < P, fill=0)
        offsets_sum = I.reduce.sum(x[members, d], axis=0)
        out[b, d] = offsets_sum / I.cast(I.maximum(offsets_value_2 - offsets_value, 1), I.f32)
