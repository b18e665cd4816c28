"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def int8_gemm(
    a: I.In[I.i8, ("M", "K")],
    b: I.In[I.i8, ("N", "K")],
    row_scale: I.In[I.f32, ("M",)],
    column_scale: I.In[I.f32, ("N",)],
    bias: I.In[I.f16, ("N",)],
    out: I.Out[I.f16, ("M", "N")],
):
    M, K = a.shape
    N = b.shape[0]
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    product = I.matmul(a[m, k], b[n, k], acc_dtype=I.i32, transpose_rhs=True)
    out[m, n] = I.cast(I.cast(product, I.f32) * row_scale[m][:, None] * column_scale[n] + I.cast(bias[n], I.f32), I.f16)
