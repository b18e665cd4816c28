"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def causal_mask(
    scores: I.InOut[I.f32, ("H", "Q", "K")],
    scale: I.f32,
):
    H, Q, K = scores.shape
    h = I.domain(0, H)
    for q in I.parallel(I.domain(0, Q)):
        for k in I.parallel(I.domain(0, K)):
            scores[h, q, k] = I.select(Q + k <= K + q, scores[h, q, k] * scale, -I.inf)
