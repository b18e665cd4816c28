"""y = alpha * a @ x + beta * y, in place."""

import intent
import intent.language as I


@intent.kernel
def gemv(
    alpha: I.f32,
    a: I.In[I.f32, ("M", "K")],
    x: I.In[I.f32, ("K",)],
    beta: I.f32,
    y: I.InOut[I.f32, ("M",)],
):
    y[:] = alpha * I.matvec(a[:, :], x[:], acc_dtype=I.f32) + beta * y[:]


def reference(alpha, a, x, beta, y):
    import numpy as np

    return (alpha * (a.astype(np.float64) @ x.astype(np.float64)) + beta * y).astype(np.float32)
