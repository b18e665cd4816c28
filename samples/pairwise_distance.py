"""Squared Euclidean distance between every row of x and every row of y, from the differences themselves."""

import intent
import intent.language as I


@intent.kernel
def pairwise_distance(
    x: I.In[I.f32, ("M", "K")],
    y: I.In[I.f32, ("N", "K")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, K = x.shape
    N = y.shape[0]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, K)
    difference = x[m, None, k] - y[None, n, k]
    out[m, n] = I.reduce.sum(difference * difference, axis=2)


def reference(x, y):
    import numpy as np

    difference = x[:, None].astype(np.float64) - y[None].astype(np.float64)
    return np.sum(difference**2, axis=2).astype(np.float32)
