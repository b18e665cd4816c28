"""x.T @ a @ y as one scalar, in f64."""

import intent
import intent.language as I


@intent.kernel
def quadratic_form(
    x: I.In[I.f64, ("M",)],
    a: I.In[I.f64, ("M", "N")],
    y: I.In[I.f64, ("N",)],
    out: I.Out[I.f64, ()],
):
    row = I.vecmat(x[:], a[:, :], acc_dtype=I.f64)
    out[()] = I.dot(row, y[:], acc_dtype=I.f64)


def reference(x, a, y):
    import numpy as np

    return np.float64(x @ a @ y)
