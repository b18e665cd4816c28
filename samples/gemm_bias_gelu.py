"""out = gelu_tanh(x @ w.T + bias): a linear layer with its weight stored [out, in], bf16 in and out."""

import intent
import intent.language as I

SQRT_TWO_OVER_PI = 0.7978845608028654


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
    n = I.domain(0, N)
    k = I.domain(0, K)
    t = I.matmul(x[m, k], w[n, k], acc_dtype=I.f32, transpose_rhs=True) + I.cast(bias[n], I.f32)
    inner = SQRT_TWO_OVER_PI * (t + 0.044715 * t * t * t)
    out[m, n] = I.cast(0.5 * t * (1.0 + I.tanh(inner)), I.bf16)


def reference(x, w, bias):
    import numpy as np

    t = x.astype(np.float64) @ w.astype(np.float64).T + bias.astype(np.float64)
    return (0.5 * t * (1.0 + np.tanh((2.0 / np.pi) ** 0.5 * (t + 0.044715 * t**3)))).astype(x.dtype)
