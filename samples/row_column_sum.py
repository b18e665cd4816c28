"""Row sums and column sums of one matrix from one kernel."""

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
    v = x[m, n]
    rows[m] = I.reduce.sum(v, axis=1)
    columns[n] = I.reduce.sum(v, axis=0)


def reference(x):
    import numpy as np

    v = x.astype(np.float64)
    return v.sum(axis=1).astype(np.float32), v.sum(axis=0).astype(np.float32)
