"""Softmax of scaled rows, f32."""

import intent
import intent.language as I


@intent.kernel
def softmax(
    x: I.In[I.f32, ("M", "N")],
    scale: I.f32,
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns] * scale
        e = I.exp(v - I.reduce.max(v, axis=0))
        out[row, columns] = e / I.reduce.sum(e, axis=0)


def reference(x, scale):
    import numpy as np

    v = x.astype(np.float64) * scale
    e = np.exp(v - np.max(v, axis=1, keepdims=True, initial=-np.inf))
    return (e / np.sum(e, axis=1, keepdims=True)).astype(np.float32)
