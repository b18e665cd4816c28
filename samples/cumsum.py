"""Inclusive prefix sums along f32 rows."""

import intent
import intent.language as I


@intent.kernel
def cumsum(
    x: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        out[row, columns] = I.cumsum(x[row, columns], axis=0)


def reference(x):
    import numpy as np

    return np.cumsum(x.astype(np.float64), axis=1).astype(np.float32)
