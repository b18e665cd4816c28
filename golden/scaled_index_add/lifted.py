"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def scaled_index_add(
    x: I.In[I.f32, ("R", "D")],
    index: I.In[I.i32, ("R",)],
    scale: I.In[I.f32, ("R",)],
    y: I.InOut[I.f32, ("S", "D")],
):
    R, D = x.shape
    S = y.shape[0]
    d = I.domain(0, D)
    for r in I.parallel(I.domain(0, R)):
        index_value = I.cast(index[r], I.index)
        if (0 <= index_value) & (index_value < S):
            I.scatter_reduce(y, (index_value, d), scale[r] * x[r, d], I.add)
