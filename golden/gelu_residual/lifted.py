"""Lifted from module.py."""

import intent
import intent.language as I


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
    bias_term = I.cast(x[m, n], I.f32) + I.cast(bias[n], I.f32)
    out[m, n] = I.cast(0.5 * bias_term * (1.0 + I.erf(bias_term * 0.70710677)) + I.cast(residual[m, n], I.f32), I.f16)
