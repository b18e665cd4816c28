"""The residual stream takes a block's output and its RMS norm feeds the next one: residual += x; out = norm(residual).

The norm is taken of the bf16 sum that is stored, as a transformer with a bf16 residual stream does.
"""

import intent
import intent.language as I


@intent.kernel
def add_rms_norm(
    x: I.In[I.bf16, ("M", "N")],
    residual: I.InOut[I.bf16, ("M", "N")],
    weight: I.In[I.bf16, ("N",)],
    eps: I.f32,
    out: I.Out[I.bf16, ("M", "N")],
):
    M, N = x.shape
    columns = I.domain(0, N)
    count = I.cast(N, I.f32)
    for row in I.parallel(I.domain(0, M)):
        total = I.cast(x[row, columns], I.f32) + I.cast(residual[row, columns], I.f32)
        residual[row, columns] = I.cast(total, I.bf16)
        v = I.cast(residual[row, columns], I.f32)
        scale = I.rsqrt(I.reduce.sum(v * v, axis=0) / count + eps)
        out[row, columns] = I.cast(v * scale * I.cast(weight[columns], I.f32), I.bf16)


def reference(x, residual, weight, eps):
    import numpy as np

    summed = (x.astype(np.float32) + residual.astype(np.float32)).astype(x.dtype)
    v = summed.astype(np.float64)
    scale = 1.0 / np.sqrt(np.sum(v * v, axis=1, keepdims=True) / max(x.shape[1], 1) + eps)
    return summed, (v * scale * weight.astype(np.float64)).astype(x.dtype)
