"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def histogram(
    x: I.In[I.f32, ("N",)],
    counts: I.Out[I.i32, ("B",)],
    low: I.f32,
    high: I.f32,
):
    N = x.shape[0]
    B = counts.shape[0]
    n = I.domain(0, N)
    for group in I.parallel(I.domain(0, 64)):
        for group_2 in I.parallel(I.domain(0, (B + 63) // 64)):
            if group + group_2 * 64 < B:
                x_values = x[n]
                x_term = (x_values - low) * (I.cast(B, I.f32) / (high - low))
                x_term_2 = (x_values >= low) & (x_values <= high)
                x_rounded = (
                    I.cast(I.select(x_term_2, I.select((x_term < 0.0) & (x_term > -1.0), -1.0, I.floor(x_term)), 0.0), I.i64)
                )
                counts[group + group_2 * 64] = (
                    I.reduce.sum(I.cast((I.cast(I.cast(I.minimum(x_rounded, I.cast(B - 1, I.i64)) - I.cast(group_2 * 64, I.i64), I.i32), I.index) == group) & (x_term_2 & ((group_2 * 64 <= I.minimum(B - 1, I.cast(x_rounded, I.index))) & (I.minimum(B - 1, I.cast(x_rounded, I.index)) < group_2 * 64 + 64))), I.i32), axis=0)
                )
