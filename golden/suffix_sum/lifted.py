"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def suffix_sum(
    x: I.In[I.i32, ("M", "N")],
    out: I.Out[I.i32, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    for n in I.parallel(I.domain(0, N)):
        members = I.domain(n, N - 1)
        out[m, n] = I.reduce.sum(x[m, I.indices(members) + 1], axis=1)
