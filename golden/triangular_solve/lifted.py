"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def triangular_solve(
    lower: I.In[I.f64, ("N", "N")],
    x: I.InOut[I.f64, ("N", "R")],
):
    N = lower.shape[0]
    R = x.shape[1]
    r = I.domain(0, R)
    for i in range(N):
        members = I.domain(0, i)
        x_values = x[members, r]
        x_values_2 = x[i, r]
        x_sum = I.reduce.sum(-(lower[i, members][:, None] * x_values), axis=0)
        x[i, r] = (x_values_2 + x_sum) / lower[i, i]
