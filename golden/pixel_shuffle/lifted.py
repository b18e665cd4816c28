"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def pixel_shuffle(
    x: I.In[I.f16, ("B", "C", 2, 2, "H", "W")],
    out: I.Out[I.f16, ("B", "C", "H", 2, "W", 2)],
):
    B = x.shape[0]
    C = x.shape[1]
    H = x.shape[4]
    W = x.shape[5]
    b = I.domain(0, B)
    c = I.domain(0, C)
    coordinates = I.domain(0, 2)
    coordinates_2 = I.domain(0, 2)
    h = I.domain(0, H)
    w = I.domain(0, W)
    out[b, c, h, coordinates, w, coordinates_2] = I.transpose(
        x[b, c, coordinates, coordinates_2, h, w], (0, 1, 4, 2, 5, 3)
    )
