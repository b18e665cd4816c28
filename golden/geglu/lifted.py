"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def geglu(
    gate: I.In[I.f16, ("M", "N")],
    up: I.In[I.f16, ("M", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, N = gate.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    gate_f32 = I.cast(gate[m, n], I.f32)
    out[m, n] = I.cast(0.5 * gate_f32 * (1.0 + I.erf(gate_f32 * 0.70710677)) * I.cast(up[m, n], I.f32), I.f16)
