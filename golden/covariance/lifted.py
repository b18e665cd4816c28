"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def covariance(
    x: I.In[I.f32, ("N", "F")],
    out: I.Out[I.f32, ("F", "F")],
):
    N, F = x.shape
    n = I.domain(0, N)
    f = I.domain(0, F)
    f_2 = I.domain(0, F)
    x_values = x[n, f]
    x_sum = I.reduce.sum(x_values, axis=0)
    x_values_2 = I.transpose(x[n, f_2], (1, 0))
    x_sum_2 = I.reduce.sum(x_values_2, axis=1)
    product = I.matmul(
        I.transpose(x_values_2, (1, 0)) - x_sum_2 / I.cast(N, I.f32),
        x_values - x_sum / I.cast(N, I.f32),
        acc_dtype=I.f32,
        transpose_lhs=True,
    )
    out[f_2, f] = product / I.cast(N - 1, I.f32)
