"""log(softmax(x)) of every row, written on whole tensors: f16 storage, f32 arithmetic."""

import intent
import intent.language as I


@intent.kernel
def log_softmax(
    x: I.In[I.f16, ("M", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    v = I.cast(x[m, n], I.f32)
    shifted = v - I.reshape(I.reduce.max(v, axis=1), (M, 1))
    mass = I.reduce.sum(I.exp(shifted), axis=1)
    out[m, n] = I.cast(shifted - I.reshape(I.log(mass), (M, 1)), I.f16)


def reference(x):
    import numpy as np

    v = x.astype(np.float64)
    shifted = v - np.max(v, axis=1, keepdims=True, initial=-np.inf)
    return (shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))).astype(np.float16)
