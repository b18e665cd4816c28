"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def scaled_matmul(
    a: I.In[I.u8, ("M", "G", 32)],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 32, "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.f32, ("M", "N")],
):
    M = a.shape[0]
    G = a.shape[1]
    N = b.shape[2]
    n = I.domain(0, N)
    g = I.domain(0, G)
    m = I.domain(0, M)
    coordinates = I.domain(0, 32)
    b_scale_values = I.transpose(b_scale[n, g], (1, 0))
    a_scale_values = a_scale[m, g]
    product = I.contract(
        I.cast(I.bitcast(a[m, g, coordinates], I.f8e4m3fn), I.f16),
        I.cast(I.bitcast(b[g, coordinates, n], I.f8e4m3fn), I.f16),
        reduce=((2, 1),),
        batch=((1, 0),),
        acc_dtype=I.f32,
    )
    c[m, n] = I.reduce.sum(
        product
        * (
            I.select(
                I.cast(a_scale_values, I.index) == 255,
                I.inf - I.inf,
                I.bitcast(I.maximum(I.cast(a_scale_values, I.u32) << 23, 4194304), I.f32),
            )[:, :, None]
            * I.select(
                I.cast(b_scale_values, I.index) == 255,
                I.inf - I.inf,
                I.bitcast(I.maximum(I.cast(b_scale_values, I.u32) << 23, 4194304), I.f32),
            )
        ),
        axis=1,
    )
