"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def row_moments(
    gradient: I.In[I.f32, ("M", "N")],
    rows: I.InOut[I.f32, ("M",)],
    decay: I.f32,
):
    M, N = gradient.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    gradient_values = gradient[m, n]
    gradient_sum = I.reduce.sum(gradient_values * gradient_values + 1e-30, axis=1)
    rows[m] = decay * rows[m] + (1.0 - decay) * (gradient_sum / I.cast(N, I.f32))


@intent.kernel
def column_moments(
    gradient: I.In[I.f32, ("M", "N")],
    columns: I.InOut[I.f32, ("N",)],
    decay: I.f32,
):
    M, N = gradient.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    gradient_values = gradient[m, n]
    gradient_sum = I.reduce.sum(gradient_values * gradient_values + 1e-30, axis=0)
    columns[n] = decay * columns[n] + (1.0 - decay) * (gradient_sum / I.cast(M, I.f32))


@intent.kernel
def factored_step(
    parameter: I.InOut[I.f32, ("M", "N")],
    gradient: I.In[I.f32, ("M", "N")],
    rows: I.In[I.f32, ("M",)],
    columns: I.In[I.f32, ("N",)],
    rate: I.f32,
):
    M, N = parameter.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    rows_values = rows[m]
    rows_sum = I.reduce.sum(rows_values, axis=0)
    parameter[m, n] = parameter[m, n] - rate * gradient[m, n] * I.rsqrt(
        rows_values[:, None] * columns[n] / (rows_sum / I.cast(M, I.f32))
    )
