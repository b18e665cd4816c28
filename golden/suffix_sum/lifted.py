"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def suffix_sum_resident(
    x: I.In[I.i32, ("M", "N")],
    out: I.Out[I.i32, ("M", "N")],
):
    M, N = x.shape
    m = I.domain(0, M)
    for n in I.parallel(I.domain(0, N)):
        members = I.domain(n, N - 1)
        out[m, n] = I.reduce.sum(x[m, I.indices(members) + 1], axis=1)


@intent.kernel
def suffix_sum_streamed(
    x: I.In[I.i32, ("M", "N_2")],
    out: I.Out[I.i32, ("M", "N")],
):
    M = x.shape[0]
    N = out.shape[1]
    for group in I.parallel(I.domain(0, (N + 4095) // 4096)):
        for m in I.parallel(I.domain(0, M)):
            for group_2 in I.parallel(I.domain(group * 4096, I.minimum(group * 4096 + 4096, N))):
                members = I.domain(group_2, I.minimum(N - 1, group * 4096 + 4096))
                members_2 = I.domain(group * 4096 + 8192, (N + 4095) // 4096 * 4096 + (N + 4095) % 4096)
                x_sum = I.reduce.sum(x[m, I.indices(members) + 1], axis=0)
                x_sum_2 = I.reduce.sum(x[m, I.indices(members_2) - 4095], axis=0)
                out[m, group_2] = x_sum_2 + x_sum
