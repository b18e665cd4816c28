"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def masked_softmax_resident(
    scores: I.In[I.f16, ("B", "Q", "K")],
    out: I.Out[I.f16, ("B", "Q", "K")],
    scale: I.f32,
    offset: I.index,
):
    B, Q, K = scores.shape
    for b in I.parallel(I.domain(0, B)):
        for q in I.parallel(I.domain(0, Q)):
            for k in I.parallel(I.domain(0, K)):
                members = I.domain(0, I.minimum(offset + q + 1, K))
                scores_term = I.cast(scores[b, q, members], I.f32) * scale
                scores_max = I.reduce.max(scores_term, axis=0)
                scores_sum = I.reduce.sum(I.exp(scores_term - scores_max), axis=0)
                out[b, q, k] = (
                    I.cast(I.exp(I.select(k <= offset + q, I.cast(scores[b, q, k], I.f32) * scale, -I.inf) - scores_max) / scores_sum, I.f16)
                )


@intent.kernel
def masked_softmax_streamed(
    scores: I.In[I.f16, ("B", "Q", "K")],
    out: I.Out[I.f16, ("B", "Q", "K")],
    scale: I.f32,
    offset: I.index,
    BLOCK_KEYS: I.Constexpr[int] = 8192,
):
    B, Q, K = scores.shape
    for b in I.parallel(I.domain(0, B)):
        for q in I.parallel(I.domain(0, Q)):
            for k in I.parallel(I.domain(0, K)):
                members = (
                    I.domain(0, I.minimum(I.minimum(offset + q + 1, BLOCK_KEYS * ((BLOCK_KEYS + I.minimum(offset + q + 1, K) - 1) // BLOCK_KEYS)), K))
                )
                members_2 = I.domain(0, I.minimum(offset + q + 1, K))
                scores_max = I.reduce.max(I.cast(scores[b, q, members], I.f32) * scale, axis=0)
                scores_sum = I.reduce.sum(I.exp(I.cast(scores[b, q, members_2], I.f32) * scale - scores_max), axis=0)
                out[b, q, k] = (
                    I.cast(I.exp(I.select(k <= offset + q, I.cast(scores[b, q, k], I.f32) * scale, -I.inf) - scores_max) / scores_sum, I.f16)
                )
