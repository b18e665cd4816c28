"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def heat_step(
    before: I.In[I.f32, ("M", "N")],
    after: I.Out[I.f32, ("M", "N")],
    rate: I.f32,
):
    M, N = before.shape
    for group in I.parallel(I.domain(0, ((I.maximum(0, M - 2) + 3) // 4 * ((I.maximum(0, N - 2) + 511) // 512) + (N + 509) // 512 - 1) // ((N + 509) // 512))):
        for group_2 in I.parallel(I.domain(0, I.minimum(N - 2, I.minimum((I.maximum(0, M - 2) + 3) // 4 * ((I.maximum(0, N - 2) + 511) // 512) - group * ((N + 509) // 512), (N + 509) // 512) * 512))):
            members = I.domain(group * 4, I.minimum(M - 2, group * 4 + 4))
            before_values = before[I.indices(members) + 1, group_2 + 1]
            after[I.indices(members) + 1, group_2 + 1] = (
                before_values
                + rate * (before[members, group_2 + 1] + before[I.indices(members) + 2, group_2 + 1] + before[I.indices(members) + 1, group_2] + before[I.indices(members) + 1, group_2 + 2] - 4.0 * before_values)
            )
