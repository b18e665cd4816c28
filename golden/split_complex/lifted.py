"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def split_complex(
    x: I.In[I.f32, ("M", "N")],
    y: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    for group in I.parallel(I.domain(0, (N + 1) // 2)):
        value_term = group * 2 + 1 < N
        y_values = y[m, group * 2]
        x_values = x[m, group * 2]
        out[m, group * 2] = x_values * y_values - I.gather(
            x, (m, group * 2 + 1), valid=value_term, fill=0.0
        ) * I.gather(y, (m, group * 2 + 1), valid=value_term, fill=0.0)
        if value_term:
            out[m, group * 2 + 1] = x_values * y[m, group * 2 + 1] + x[m, group * 2 + 1] * y_values
