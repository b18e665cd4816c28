"""Attention scores in place: scale them, and hide keys that come after the query (the last query sees every key)."""

import intent
import intent.language as I

CASES = [
    {"H": 2, "Q": 7, "K": 19},
    {"H": 2, "Q": 8, "K": 16},
    {"H": 1, "Q": 1, "K": 1},
    {"H": 0, "Q": 3, "K": 3},
    {"H": 2, "Q": 3, "K": 0},
]
LARGE = [{"H": 5, "Q": 130, "K": 261}]


@intent.kernel
def causal_mask(
    scores: I.InOut[I.f32, ("H", "Q", "K")],
    scale: I.f32,
):
    H, Q, K = scores.shape
    heads = I.domain(0, H)
    queries = I.domain(0, Q)
    keys = I.domain(0, K)
    visible = I.reshape(I.indices(queries), (Q, 1)) + (K - Q) >= I.indices(keys)
    scores[heads, queries, keys] = I.mask(scores[heads, queries, keys] * scale, visible, -I.inf)


def reference(scores, scale):
    import numpy as np

    Q, K = scores.shape[1:]
    visible = np.arange(Q)[:, None] + (K - Q) >= np.arange(K)
    return np.where(visible, scores * scale, np.float32(-np.inf))
