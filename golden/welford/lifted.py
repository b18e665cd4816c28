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
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_values = x[m, n]
        value_combined, x_combined, value_combined_2 = I.reduce(
            (I.full((N,), 1.0, I.f32), x_values, I.full((N,), 0.0, I.f32)),
            axis=0,
            identity=(0.0, 0.0, 0.0),
            combine=_welford_combine,
        )
        mean[m] = x_combined
        variance[m] = value_combined_2 / I.maximum(value_combined, 1.0)
