"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def popcount(
    x: I.In[I.u32, ("N",)],
    out: I.Out[I.i32, ("N",)],
):
    N = x.shape[0]
    n = I.domain(0, N)
    x_values = x[n]
    x_term = x_values - (x_values >> 1 & 1431655765)
    x_term_2 = (x_term & 858993459) + (x_term >> 2 & 858993459)
    out[n] = I.cast((x_term_2 + (x_term_2 >> 4) & 252645135) * 16843009 >> 24, I.i32)
