"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def grouped_gemm(
    x: I.In[I.f16, ("R", "K")],
    weight: I.In[I.f16, ("G", "K", "N")],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f16, ("R", "N")],
):
    R, K = x.shape
    G = weight.shape[0]
    N = weight.shape[2]
    P = offsets.shape[0]
    k = I.domain(0, K)
    n = I.domain(0, N)
    for g in I.parallel(I.domain(0, G)):
        members = I.domain(
            I.maximum(0, I.cast(I.gather(offsets, (g,), valid=g < P, fill=0), I.index)),
            I.minimum(R, I.cast(I.gather(offsets, (g + 1,), valid=g + 1 < P, fill=0), I.index)),
        )
        product = I.matmul(x[members, k], weight[g, k, n], acc_dtype=I.f32)
        out[members, n] = I.cast(product, I.f16)
