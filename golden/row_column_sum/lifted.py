"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def row_column_sum(
    x: I.In[I.f32, ("M", "N")],
    rows: I.Out[I.f32, ("M",)],
    columns: I.Out[I.f32, ("N",)],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    coordinates = I.domain((M + 15) // 16 * 32, N + (M + 15) // 16 * 32)
    rows[m] = I.reduce.sum(x[m, n], axis=1)
    columns[I.indices(coordinates) - (M + 15) // 16 * 32] = I.reduce.sum(
        x[m, I.indices(coordinates) - (M + 15) // 16 * 32], axis=0
    )
