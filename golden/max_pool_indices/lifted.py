"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def max_pool_indices(
    x: I.In[I.f32, ("B", "P", 2, "Q", 2)],
    out: I.Out[I.f32, ("B", "P", "Q")],
    position: I.Out[I.i64, ("B", "P", "Q")],
):
    B = x.shape[0]
    P = x.shape[1]
    Q = x.shape[3]
    coordinates = I.domain(0, 2)
    coordinates_2 = I.domain(0, 2)
    coordinates_3 = I.domain(0, 4)
    for b in I.parallel(I.domain(0, B)):
        for p in I.parallel(I.domain(0, P)):
            for q in I.parallel(I.domain(0, Q)):
                out[b, p, q] = I.reduce.max(x[b, p, coordinates, q, coordinates_2], axis=(0, 1))
                position[b, p, q] = I.cast(
                    Q * p * 4
                    + Q
                    * (
                        I.arg_reduce.max(
                            x[b, p, I.indices(coordinates_3) // 2, q, I.indices(coordinates_3) % 2], axis=0
                        )[1]
                        // 2
                    )
                    * 2
                    + q * 2
                    + I.arg_reduce.max(x[b, p, I.indices(coordinates_3) // 2, q, I.indices(coordinates_3) % 2], axis=0)[
                        1
                    ]
                    % 2,
                    I.i64,
                )
