"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def argmax(
    scores: I.In[I.f32, ("B", "P", "C")],
    best: I.Out[I.f32, ("B", "P")],
    label: I.Out[I.i64, ("B", "P")],
):
    B, P, C = scores.shape
    b = I.domain(0, B)
    p = I.domain(0, P)
    c = I.domain(0, C)
    scores_values = scores[b, p, c]
    best[b, p] = I.reduce.max(scores_values, axis=2)
    label[b, p] = I.cast(I.arg_reduce.max(scores_values, axis=2)[1], I.i64)
