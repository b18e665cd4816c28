"""Elements move by `rows` and `columns` places, and those pushed out at one end come in at the other."""

import intent
import intent.language as I


@intent.kernel
def roll(
    x: I.In[I.f32, ("M", "N")],
    rows: I.index,
    columns: I.index,
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    out[m, n] = x[((I.indices(m) - rows) % M)[:, None], ((I.indices(n) - columns) % N)[None, :]]


def reference(x, rows, columns):
    import numpy as np

    return np.roll(x, (rows, columns), axis=(0, 1)) if x.size else x
