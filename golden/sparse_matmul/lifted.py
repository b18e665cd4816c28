"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def sparse_matmul(
    kept: I.In[I.f16, ("M", "H")],
    places: I.In[I.u8, ("M", "G")],
    x: I.In[I.f16, ("K", "N")],
    y: I.Out[I.f16, ("M", "N")],
):
    M, H = kept.shape
    G = places.shape[1]
    K, N = x.shape
    m = I.domain(0, M)
    k = I.domain(0, K)
    n = I.domain(0, N)
    places_values = I.gather(places, (m, I.indices(k) // 4), valid=I.indices(k) // 4 < G, fill=0)
    product = I.matmul(
        I.select(
            I.indices(k) % 4 == I.cast(places_values & 3, I.index),
            I.gather(kept, (m, I.indices(k) // 4 * 2), valid=I.indices(k) // 4 * 2 < H, fill=0.0),
            I.select(
                I.indices(k) % 4 == I.cast(places_values >> 2, I.index),
                I.gather(kept, (m, I.indices(k) // 4 * 2 + 1), valid=I.indices(k) // 4 * 2 + 1 < H, fill=0.0),
                0.0,
            ),
        ),
        x[k, n],
        acc_dtype=I.f32,
    )
    y[m, n] = I.cast(product, I.f16)
