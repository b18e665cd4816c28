"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def top_k_state(
    x: I.In[I.f32, ("M", "N")],
    values: I.Out[I.f32, ("M", 4)],
    positions: I.Out[I.i64, ("M", 4)],
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        v = x[m, n]
        for k in range(4):
            values[m, k] = I.reduce.max(v, axis=0)
            positions[m, k] = I.cast(I.arg_reduce.max(v, axis=0)[1], I.i64)
            v = I.select(I.arg_reduce.max(v, axis=0)[1] == I.indices(n), -I.inf, v)
