"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rms_norm(
    x: I.In[I.f16, ("M", "N")],
    weight: I.In[I.f16, ("N",)],
    out: I.Out[I.f16, ("M", "N")],
    inverse_rms: I.Out[I.f32, ("M",)],
    eps: I.f32,
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_f32 = I.cast(x[m, n], I.f32)
        x_sum = I.reduce.sum(x_f32 * x_f32, axis=0)
        rsqrt_x = I.rsqrt(x_sum / I.cast(N, I.f32) + eps)
        inverse_rms[m] = rsqrt_x
        out[m, n] = I.cast(x_f32 * rsqrt_x * I.cast(weight[n], I.f32), I.f16)
