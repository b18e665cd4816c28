"""out = silu(gate) * up, with gate and up side by side in one projection of shape [tokens, 2, hidden]."""

import intent
import intent.language as I


@intent.kernel
def swiglu(
    projected: I.In[I.bf16, ("M", 2, "N")],
    out: I.Out[I.bf16, ("M", "N")],
):
    M, N = out.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    gate = I.cast(projected[m, 0, n], I.f32)
    up = I.cast(projected[m, 1, n], I.f32)
    out[m, n] = I.cast(gate * I.sigmoid(gate) * up, I.bf16)


def reference(projected):
    import numpy as np

    gate = projected[:, 0].astype(np.float64)
    up = projected[:, 1].astype(np.float64)
    return (gate / (1.0 + np.exp(-gate)) * up).astype(projected.dtype)
