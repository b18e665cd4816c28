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
    x: I.In[I.i32, ("M", "N")],
    out: I.Out[I.i32, ("M", "N")],
    BLOCK_N: I.Constexpr[int] = 4096,
):
    M, N = x.shape
    block_n = I.domain(0, BLOCK_N)
    for group in I.parallel(I.domain(0, (BLOCK_N + N - 1) // BLOCK_N)):
        for m in I.parallel(I.domain(0, M)):
            for group_2 in I.parallel(I.domain(BLOCK_N * group, I.minimum(BLOCK_N * group + BLOCK_N, N))):
                members = I.domain(group_2, I.minimum(N - 1, BLOCK_N * group + BLOCK_N))
                members_2 = I.domain(0, (BLOCK_N + N - 1) // BLOCK_N - 1 - group)
                x_sum = I.reduce.sum(x[m, I.indices(members) + 1], axis=0)
                value_term = I.indices(block_n)[:, None] < BLOCK_N * I.indices(members_2) + (N - 1) % BLOCK_N
                x_sum_2 = (
                    I.reduce.sum(I.select(value_term, I.gather(x, (m, N + I.indices(block_n)[:, None] - (N - 1) % BLOCK_N - BLOCK_N * I.indices(members_2)), valid=(I.indices(block_n)[:, None] <= BLOCK_N * I.indices(members_2) + (N - 1) % BLOCK_N) & value_term, fill=0), 0), axis=(0, 1))
                )
                out[m, group_2] = x_sum_2 + x_sum
