"""log(1 + exp(x)) without overflow, and Mish, x * tanh(softplus(x))."""

import intent
import intent.language as I


@intent.fn
def softplus_of(v):
    return I.maximum(v, 0.0) + I.log1p(I.exp(-I.abs(v)))


@intent.kernel
def softplus(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)], mish: I.Out[I.f32, ("N",)]):
    n = I.domain(0, x.shape[0])
    v = x[n]
    s = softplus_of(v)
    out[n] = s
    mish[n] = v * I.tanh(s)


def reference(x):
    import numpy as np

    s = np.logaddexp(0.0, x.astype(np.float64))
    return s.astype(np.float32), (x * np.tanh(s)).astype(np.float32)
