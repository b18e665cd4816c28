"""out = gelu(gate) * up with the exact GELU, x / 2 * (1 + erf(x / sqrt(2)))."""

import intent
import intent.language as I

INVERSE_SQRT_2 = 0.7071067811865476


@intent.fn
def gelu(v):
    return 0.5 * v * (1.0 + I.erf(v * INVERSE_SQRT_2))


@intent.kernel
def geglu(
    gate: I.In[I.f16, ("M", "N")],
    up: I.In[I.f16, ("M", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    out[:, :] = I.cast(gelu(I.cast(gate[:, :], I.f32)) * I.cast(up[:, :], I.f32), I.f16)


def reference(gate, up):
    import numpy as np
    from scipy.special import erf

    v = gate.astype(np.float64)
    return (0.5 * v * (1.0 + erf(v * INVERSE_SQRT_2)) * up.astype(np.float64)).astype(np.float16)
