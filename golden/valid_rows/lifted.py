"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def valid_rows(
    x: I.In[I.f32, ("M", "N")],
    has_nan: I.Out[I.bool, ("M",)],
    all_finite: I.Out[I.bool, ("M",)],
):
    M, N = x.shape
    coordinates = I.domain(0, 256)
    coordinates_2 = I.domain(0, (N + 255) // 256)
    m = I.domain(0, M)
    value_term = I.indices(coordinates)[:, None] + I.indices(coordinates_2) * 256 < N
    x_values = I.gather(x, (m, I.indices(coordinates)[:, None] + I.indices(coordinates_2) * 256), valid=value_term)
    x_any = I.reduce.any(I.select(value_term, x_values != x_values, False), axis=2)
    x_max = I.reduce.max(I.cast(x_any, I.i32), axis=1)
    has_nan[m] = I.cast(x_max, I.index) != 0
    x_all = I.reduce.all(I.select(value_term, I.abs(x_values) < I.inf, True), axis=2)
    x_min = ~I.reduce.max(~I.cast(x_all, I.i32), axis=1)
    all_finite[m] = I.cast(x_min, I.index) != 0
