"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def heat_step(
    before: I.In[I.f32, ("M", "N")],
    after: I.Out[I.f32, ("M_2", "N_2")],
    rate: I.f32,
):
    M, N = before.shape
    coordinates = I.domain(0, M - 2)
    for group in I.parallel(I.domain(0, N - 2)):
        before_values = before[I.indices(coordinates) + 1, group + 1]
        after[I.indices(coordinates) + 1, group + 1] = before_values + rate * (
            before[coordinates, group + 1]
            + before[I.indices(coordinates) + 2, group + 1]
            + before[I.indices(coordinates) + 1, group]
            + before[I.indices(coordinates) + 1, group + 2]
            - 4.0 * before_values
        )
