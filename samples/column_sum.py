"""Sum of every column of an f32 matrix."""

import intent
import intent.language as I


@intent.kernel
def column_sum(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("N",)],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    out[n] = I.reduce.sum(x[m, n], axis=0)


def reference(x):
    import numpy as np

    return x.astype(np.float64).sum(axis=0).astype(np.float32)
