"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def causal_conv1d_varlen(
    x: I.In[I.f32, ("T", "C")],
    weight: I.In[I.f32, ("C", 3)],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("T", "C")],
):
    T, C = x.shape
    P = offsets.shape[0]
    c = I.domain(0, C)
    for group in I.parallel(I.domain(0, I.maximum(0, P - 1))):
        for group_2 in I.parallel(
            I.domain(I.maximum(0, I.cast(offsets[group], I.index)), I.minimum(T, I.cast(offsets[group + 1], I.index)))
        ):
            members = I.domain(I.maximum(I.maximum(0, 2 - group_2), I.cast(offsets[group], I.index) + 2 - group_2), 3)
            out[group_2, c] = I.reduce.sum(
                I.transpose(x[group_2 + I.indices(members) - 2, c], (1, 0)) * weight[c, members], axis=1
            )
