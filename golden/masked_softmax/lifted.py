"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def masked_softmax(
    scores: I.In[I.f16, ("B", "Q", "K")],
    out: I.Out[I.f16, ("B", "Q", "K")],
    scale: I.f32,
    offset: I.index,
):
    B, Q, K = scores.shape
    k = I.domain(0, K)
    for b in I.parallel(I.domain(0, B)):
        for q in I.parallel(I.domain(0, Q)):
            members = I.domain(0, I.minimum(offset + q + 1, K))
            scores_term = I.cast(scores[b, q, members], I.f32) * scale
            scores_max = I.reduce.max(scores_term, axis=0)
            scores_sum = I.reduce.sum(I.exp(scores_term - scores_max), axis=0)
            out[b, q, k] = I.cast(
                I.exp(I.select(I.indices(k) <= offset + q, I.cast(scores[b, q, k], I.f32) * scale, -I.inf) - scores_max)
                / scores_sum,
                I.f16,
            )
