"""Lifted from module.py."""

import intent
import intent.language as I


@intent.fn
def _welford_combine(left, right):
    left_0, left_1, left_2 = left
    right_0, right_1, right_2 = right
    combined = left_0 + right_0
    value_term = right_0 / I.maximum(combined, 1.0)
    value_term_2 = right_1 - left_1
    combined_2 = left_1 + value_term_2 * value_term
    combined_3 = left_2 + right_2 + value_term_2 * value_term_2 * left_0 * value_term
    return combined, combined_2, combined_3


@intent.kernel
def welford(
    x: I.In[I.f32, ("M", "N")],
    mean: I.Out[I.f32, ("M",)],
    variance: I.Out[I.f32, ("M",)],
    BLOCK_N: I.Constexpr[int] = 8192,
):
    M, N = x.shape
    block_n = I.domain(0, BLOCK_N)
    coordinates = I.domain(0, (BLOCK_N + N - 1) // BLOCK_N)
    for m in I.parallel(I.domain(0, M)):
        total_deviation_partial = I.zeros((BLOCK_N,), I.f32)
        total_mean_partial = I.zeros((BLOCK_N,), I.f32)
        for start_n in range((BLOCK_N + N - 1) // BLOCK_N):
            value_term = 1.0 / I.maximum(I.cast(start_n + 1, I.f32), 1.0)
            value_term_2 = BLOCK_N * start_n + I.indices(block_n) < N
            x_term = I.gather(x, (m, BLOCK_N * start_n + I.indices(block_n)), valid=value_term_2) - total_mean_partial
            total_deviation_partial = (
                I.select(value_term_2, total_deviation_partial + 0.0 + x_term * x_term * I.cast(start_n, I.f32) * value_term, total_deviation_partial)
            )
            total_mean_partial = I.select(value_term_2, total_mean_partial + x_term * value_term, total_mean_partial)
        value_term_3 = BLOCK_N * I.indices(coordinates) + I.indices(block_n)[:, None] < N
        value_sum = I.reduce.sum(I.cast(I.select(value_term_3, 1.0, 0.0), I.f32), axis=1)
        value_combined_2, value_combined, value_combined_3 = (
            I.reduce((value_sum, total_mean_partial, total_deviation_partial), axis=0, identity=(0.0, 0.0, 0.0), combine=_welford_combine)
        )
        mean[m] = value_combined
        variance[m] = value_combined_3 / I.maximum(value_combined_2, 1.0)
