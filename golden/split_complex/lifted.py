"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def split_complex(
    x: I.In[I.f32, ("M", "N_2", 2)],
    y: I.In[I.f32, ("M", "N_2", 2)],
    out: I.Out[I.f32, ("M", "N_2", 2)],
    N: I.index,
):
    M = x.shape[0]
    N_2 = x.shape[1]
    m = I.domain(0, M)
    for group in I.parallel(I.domain(0, N_2)):
        value_term = group * 2 + 1 < N
        y_values = y[m, group, 0]
        x_values = x[m, group, 0]
        out[m, group, 0] = (
            x_values * y_values
            - I.gather(x, (m, group, 1), valid=value_term, fill=0.0) * I.gather(y, (m, group, 1), valid=value_term, fill=0.0)
        )
        if value_term:
            out[m, group, 1] = x_values * y[m, group, 1] + x[m, group, 1] * y_values
