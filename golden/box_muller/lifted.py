"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def box_muller(
    out: I.Out[I.f32, ("N", 2)],
    seed: I.u64,
    mean: I.f32,
    deviation: I.f32,
):
    N = out.shape[0]
    n = I.domain(0, N)
    value_term = I.cast(I.random.bits(seed, I.indices(n) * 2 + 1) >> 8, I.f32) * 5.9604645e-08 * 6.2831855
    value_term_2 = (
        I.sqrt(-2.0 * I.log(1.0 - I.cast(I.random.bits(seed, I.indices(n) * 2) >> 8, I.f32) * 5.9604645e-08))
        * deviation
    )
    out[n, 0] = mean + value_term_2 * I.cos(value_term)
    out[n, 1] = mean + value_term_2 * I.sin(value_term)
