"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def int4_gemm(
    x: I.In[I.f16, ("M", "G", 32)],
    packed: I.In[I.u8, ("N", "G", 16)],
    scale: I.In[I.f16, ("N", "G")],
    zero: I.In[I.u8, ("N", "G")],
    out: I.Out[I.f16, ("M", "N")],
):
    M = x.shape[0]
    G = x.shape[1]
    N = packed.shape[0]
    n = I.domain(0, N)
    g = I.domain(0, G)
    coordinates = I.domain(0, 32)
    m = I.domain(0, M)
    packed_values = packed[n, g, I.indices(coordinates) // 2]
    product = I.contract(
        x[m, g, coordinates],
        (
            I.cast(I.select(I.indices(coordinates) % 2 == 0, packed_values & 15, packed_values >> 4), I.f16)
            - I.cast(zero[n, g], I.f16)[:, :, None]
        )
        * scale[n, g][:, :, None],
        reduce=((1, 1), (2, 2)),
        acc_dtype=I.f32,
    )
    out[m, n] = I.cast(product, I.f16)
