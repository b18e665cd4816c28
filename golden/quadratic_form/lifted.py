"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def quadratic_form(
    x: I.In[I.f64, ("M",)],
    a: I.In[I.f64, ("M", "N")],
    y: I.In[I.f64, ("N",)],
    out: I.Out[I.f64, ()],
):
    M = x.shape[0]
    N = a.shape[1]
    m = I.domain(0, M)
    n = I.domain(0, N)
    a_sum = I.reduce.sum(x[m][:, None] * a[m, n], axis=0)
    out[()] = I.reduce.sum(a_sum * y[n], axis=0)
