"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def fp8_gemm(
    a: I.In[I.f8e4m3fn, ("M", "G", 32)],
    b: I.In[I.f8e4m3fn, ("N", "G", 32)],
    a_scale: I.In[I.f32, ("M", "G")],
    b_scale: I.In[I.f32, ("N", "G")],
    out: I.Out[I.bf16, ("M", "N")],
):
    M = a.shape[0]
    G = a.shape[1]
    N = b.shape[0]
    m = I.domain(0, M)
    g = I.domain(0, G)
    coordinates = I.domain(0, 32)
    n = I.domain(0, N)
    product = I.contract(
        I.cast(a[m, g, coordinates], I.f16),
        I.cast(b[n, g, coordinates], I.f16),
        reduce=((2, 2),),
        batch=((1, 1),),
        acc_dtype=I.f32,
    )
    b_scale_sum = I.reduce.sum(product * a_scale[m, g][:, :, None] * I.transpose(b_scale[n, g], (1, 0)), axis=1)
    out[m, n] = I.cast(b_scale_sum, I.bf16)
