"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def group_squares(
    x: I.In[I.f32, ("N",)],
    partial: I.Out[I.f32, ("G",)],
):
    N = x.shape[0]
    G = partial.shape[0]
    for g in I.parallel(I.domain(0, G)):
        members = I.domain(
            0,
            I.minimum(N, I.minimum(N, g * ((G + N - 1) // G)) + (G + N - 1) // G)
            - I.minimum(N, g * ((G + N - 1) // G)),
        )
        x_values = x[I.indices(members) + I.minimum(N, g * ((G + N - 1) // G))]
        partial[g] = I.reduce.sum(x_values * x_values, axis=0)


@intent.kernel
def root_of_total(
    partial: I.In[I.f32, ("G",)],
    norm: I.Out[I.f32, ()],
):
    G = partial.shape[0]
    g = I.domain(0, G)
    partial_sum = I.reduce.sum(partial[g], axis=0)
    norm[()] = I.sqrt(partial_sum)
