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
    rows[m] = I.reduce.sum(x[m, n], axis=1)
    for group in I.parallel(I.domain((M + 15) // 16, (M + 15) // 16 + (N + 31) // 32)):
        for group_2 in I.parallel(I.domain(group * 32, I.minimum(group * 32 + 32, N + (M + 15) // 16 * 32))):
            columns[group_2 - (M + 15) // 16 * 32] = I.reduce.sum(x[m, group_2 - (M + 15) // 16 * 32], axis=0)
