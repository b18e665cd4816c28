"""Residual add and RMS normalisation in place: the residual stream grows by x, and x becomes the normalised stream."""

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
        stream = I.cast(x[t, d], I.f32) + I.cast(residual[t, d], I.f32)
        residual[t, d] = I.cast(stream, I.bf16)
        scale = I.rsqrt(I.reduce.sum(stream * stream, axis=0) / I.cast(D, I.f32) + eps)
        x[t, d] = I.cast(stream * scale * I.cast(weight[d], I.f32), I.bf16)


def reference(x, residual, weight, eps):
    import numpy as np

    stream = x.astype(np.float32) + residual.astype(np.float32)
    scale = 1.0 / np.sqrt(np.mean(stream.astype(np.float64) ** 2, axis=1, keepdims=True) + eps)
    return (stream * scale * weight.astype(np.float32)).astype(x.dtype), stream.astype(x.dtype)
