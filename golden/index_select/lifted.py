"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def index_select(
    x: I.In[I.f16, ("A", "K", "B")],
    index: I.In[I.i64, ("J",)],
    out: I.Out[I.f16, ("A", "J", "B")],
):
    A, K, B = x.shape
    J = index.shape[0]
    a = I.domain(0, A)
    b = I.domain(0, B)
    for j in I.parallel(I.domain(0, J)):
        index_value = index[j]
        index_term = I.select(0 <= I.cast(index_value, I.index), index_value, I.cast(K, I.i64) + index_value)
        out[a, j, b] = I.gather(
            x,
            (a, I.cast(index_term, I.index), b),
            valid=(0 <= I.cast(index_term, I.index)) & (I.cast(index_term, I.index) < K),
            fill=0.0,
        )
