"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def roll(
    x: I.In[I.f32, ("V", "V_2")],
    out: I.Out[I.f32, ("M", "N")],
    rows: I.index,
    columns: I.index,
):
    M, N = out.shape
    for m in I.parallel(I.domain(0, M)):
        for n in I.parallel(I.domain(0, N)):
            out[m, n] = (
                x[I.cast(I.select((M * I.select(m - rows < 0, -(-(m - rows) // M), (m - rows) // M) + rows != m) & (I.cast(I.cast(m - rows - M * I.select(m - rows < 0, -(-(m - rows) // M), (m - rows) // M), I.i64) ^ I.cast(M, I.i64), I.index) < 0), I.cast(M + m - rows - M * I.select(m - rows < 0, -(-(m - rows) // M), (m - rows) // M), I.i64), I.cast(m - rows - M * I.select(m - rows < 0, -(-(m - rows) // M), (m - rows) // M), I.i64)), I.index), I.cast(I.select((N * I.select(n - columns < 0, -(-(n - columns) // N), (n - columns) // N) + columns != n) & (I.cast(I.cast(n - columns - N * I.select(n - columns < 0, -(-(n - columns) // N), (n - columns) // N), I.i64) ^ I.cast(N, I.i64), I.index) < 0), I.cast(N + n - columns - N * I.select(n - columns < 0, -(-(n - columns) // N), (n - columns) // N), I.i64), I.cast(n - columns - N * I.select(n - columns < 0, -(-(n - columns) // N), (n - columns) // N), I.i64)), I.index)]
            )
