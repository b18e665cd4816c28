"""The first half of a gated feed-forward block: out = silu(x @ gate) * (x @ up)."""

import intent
import intent.language as I


@intent.kernel
def dual_gemm(
    x: I.In[I.f16, ("M", "K")],
    gate: I.In[I.f16, ("K", "N")],
    up: I.In[I.f16, ("K", "N")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, K = x.shape
    N = gate.shape[1]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, K)
    g = I.matmul(x[m, k], gate[k, n], acc_dtype=I.f32)
    u = I.matmul(x[m, k], up[k, n], acc_dtype=I.f32)
    out[m, n] = I.cast(g * I.sigmoid(g) * u, I.f16)


def reference(x, gate, up):
    import numpy as np

    v = x.astype(np.float64)
    g = v @ gate.astype(np.float64)
    u = v @ up.astype(np.float64)
    return (g / (1.0 + np.exp(-g)) * u).astype(np.float16)
