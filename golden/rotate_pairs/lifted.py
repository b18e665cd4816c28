"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rotate_pairs(
    x: I.In[I.f32, ("M", 32, 2)],
    out: I.Out[I.f32, ("M", 32, 2)],
):
    M = x.shape[0]
    coordinates = I.domain(0, 2)
    m = I.domain(0, M)
    coordinates_2 = I.domain(0, 32)
    out[m, coordinates_2, coordinates] = I.select(
        I.indices(coordinates) == 0, (x[m, coordinates_2, 1] * -1.0)[:, :, None], x[m, coordinates_2, 0][:, :, None]
    )
