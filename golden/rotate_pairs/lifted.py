"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rotate_pairs(
    x: I.In[I.f32, ("M", 64)],
    out: I.Out[I.f32, ("M", 64)],
):
    M = x.shape[0]
    coordinates = I.domain(0, 64)
    m = I.domain(0, M)
    out[m, coordinates] = I.select(
        I.indices(coordinates) % 2 == 0,
        x[m, I.indices(coordinates) // 2 * 2 + 1] * -1.0,
        x[m, I.indices(coordinates) // 2 * 2],
    )
