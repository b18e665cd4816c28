"""a += alpha * outer(x, y), in place."""

import intent
import intent.language as I


@intent.kernel
def rank_one_update(
    alpha: I.f32,
    x: I.In[I.f32, ("M",)],
    y: I.In[I.f32, ("N",)],
    a: I.InOut[I.f32, ("M", "N")],
):
    M, N = a.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    a[m, n] += alpha * I.outer(x[m], y[n])


def reference(alpha, x, y, a):
    import numpy as np

    return a + alpha * np.outer(x, y)
