"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def fused_add_rms_norm(
    x: I.InOut[I.bf16, ("T", "D")],
    residual: I.InOut[I.bf16, ("T", "D")],
    weight: I.In[I.bf16, ("D",)],
    eps: I.f32,
):
    T, D = x.shape
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        residual_values = residual[t, d]
        residual_term = I.cast(x[t, d], I.f32) + I.cast(residual_values, I.f32)
        residual[t, d] = I.cast(residual_term, I.bf16)
        residual_sum = I.reduce.sum(residual_term * residual_term, axis=0)
        x[t, d] = I.cast(
            residual_term * I.rsqrt(residual_sum / I.cast(D, I.f32) + eps) * I.cast(weight[d], I.f32), I.bf16
        )
