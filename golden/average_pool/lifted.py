"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def average_pool(
    x: I.In[I.f32, ("B", "H", "W")],
    out: I.Out[I.f32, ("B", "P", "Q")],
):
    B, H, W = x.shape
    P = out.shape[1]
    Q = out.shape[2]
    b = I.domain(0, B)
    coordinates = I.domain(0, 2)
    coordinates_2 = I.domain(0, 2)
    for p in I.parallel(I.domain(0, P)):
        for q in I.parallel(I.domain(0, Q)):
            x_sum = I.reduce.sum(
                I.gather(
                    x,
                    (
                        b,
                        (Q * I.indices(coordinates) * 2 + Q * p * 4 + I.indices(coordinates_2)[:, None] + q * 2) // W,
                        (Q * I.indices(coordinates) * 2 + Q * p * 4 + I.indices(coordinates_2)[:, None] + q * 2) % W,
                    ),
                    valid=(Q * I.indices(coordinates) * 2 + Q * p * 4 + I.indices(coordinates_2)[:, None] + q * 2) // W
                    < H,
                    fill=0.0,
                ),
                axis=(1, 2),
            )
            out[b, p, q] = 0.25 * x_sum
