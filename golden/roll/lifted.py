"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def roll(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
    rows: I.index,
    columns: I.index,
):
    M, N = x.shape
    m = I.domain(0, M)
    for n in I.parallel(I.domain(0, N)):
        out[m, n] = x[(I.indices(m) - rows) % M, (n - columns) % N]
