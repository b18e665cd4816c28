"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def add_rms_norm(
    x: I.In[I.bf16, ("M", "N")],
    residual: I.InOut[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    out: I.Out[I.bf16, ("M", "N")],
    eps: I.f32,
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        residual_values = residual[m, n]
        residual_rounded = I.cast(I.cast(x[m, n], I.f32) + I.cast(residual_values, I.f32), I.bf16)
        residual[m, n] = residual_rounded
        residual_rounded_2 = I.cast(residual_rounded, I.f32)
        residual_sum = I.reduce.sum(residual_rounded_2 * residual_rounded_2, axis=0)
        out[m, n] = I.cast(
            residual_rounded_2 * I.rsqrt(residual_sum / I.cast(N, I.f32) + eps) * I.cast(weight[n], I.f32), I.bf16
        )
