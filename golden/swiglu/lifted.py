"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def swiglu(
    projected: I.In[I.bf16, ("M", 2, "N")],
    out: I.Out[I.bf16, ("M", "N")],
):
    M = projected.shape[0]
    N = projected.shape[2]
    m = I.domain(0, M)
    n = I.domain(0, N)
    projected_f32 = I.cast(projected[m, 0, n], I.f32)
    out[m, n] = I.cast(projected_f32 * I.sigmoid(projected_f32) * I.cast(projected[m, 1, n], I.f32), I.bf16)
