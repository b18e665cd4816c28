"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def gemm_bias_gelu(
    x: I.In[I.bf16, ("M", "K")],
    w: I.In[I.bf16, ("N", "K")],
    bias: I.In[I.bf16, ("N",)],
    out: I.Out[I.bf16, ("M", "N")],
):
    M, K = x.shape
    N = w.shape[0]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    product = I.matmul(x[m, k], w[n, k], acc_dtype=I.f32, transpose_rhs=True)
    bias_term = product + I.cast(bias[n], I.f32)
    out[m, n] = I.cast(
        0.5 * bias_term * (1.0 + I.tanh(0.7978846 * (bias_term + 0.044715 * bias_term * bias_term * bias_term))), I.bf16
    )
