"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def nucleus_sampling(
    probability: I.In[I.f32, ("M", "V")],
    word: I.In[I.i32, ("M", "V")],
    u: I.In[I.f32, ("M",)],
    out: I.Out[I.i32, ("M",)],
    top: I.f32,
):
    M, V = probability.shape
    v = I.domain(0, V)
    for m in I.parallel(I.domain(0, M)):
        probability_values = probability[m, v]
        probability_term = I.select(
            I.cumsum(probability_values, axis=0) - probability_values < top, probability_values, 0.0
        )
        probability_sum = I.reduce.sum(probability_term, axis=0)
        probability_sum_2 = I.reduce.sum(
            I.cast(I.cumsum(probability_term, axis=0) <= u[m] * probability_sum, I.i64), axis=0
        )
        value_term = 0 < V
        out[m] = I.select(
            value_term,
            I.gather(
                word,
                (m, I.minimum(V - 1, I.cast(probability_sum_2, I.index))),
                valid=(0 <= I.minimum(V - 1, I.cast(probability_sum_2, I.index))) & value_term,
                fill=0,
            ),
            -1,
        )
