"""out = gelu(x + bias) + residual, exact GELU, f16 storage and f32 arithmetic."""

import intent
import intent.language as I

SQRT_HALF = 0.7071067811865476


@intent.kernel
def gelu_residual(
    x: I.In[I.f16, ("M", "N")],
    bias: I.In[I.f16, ("N",)],
    residual: I.In[I.f16, ("M", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    t = I.cast(x[m, n], I.f32) + I.cast(bias[n], I.f32)
    activated = 0.5 * t * (1.0 + I.erf(t * SQRT_HALF))
    out[m, n] = I.cast(activated + I.cast(residual[m, n], I.f32), I.f16)


def reference(x, bias, residual):
    from math import erf

    import numpy as np

    t = x.astype(np.float64) + bias.astype(np.float64)
    activated = 0.5 * t * (1.0 + np.vectorize(erf, otypes=[np.float64])(t * 0.5**0.5))
    return (activated + residual).astype(np.float16)
