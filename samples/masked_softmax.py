"""Softmax of attention scores under a causal mask with an offset: query i sees the keys up to i + offset."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "Q": 5, "K": 19, "offset": 3},
    {"B": 1, "Q": 8, "K": 8, "offset": 0},
    {"B": 1, "Q": 1, "K": 1, "offset": 0},
    {"B": 0, "Q": 3, "K": 4, "offset": 1},
    {"B": 1, "Q": 3, "K": 0, "offset": 1},
]
LARGE = [{"B": 3, "Q": 131, "K": 517, "offset": 386}]


@intent.kernel
def masked_softmax(
    scores: I.In[I.f16, ("B", "Q", "K")],
    scale: I.f32,
    offset: I.index,
    out: I.Out[I.f16, ("B", "Q", "K")],
):
    B, Q, K = scores.shape
    keys = I.domain(0, K)
    for b, q in I.parallel((I.domain(0, B), I.domain(0, Q))):
        visible = I.indices(keys) <= q + offset
        v = I.mask(I.cast(scores[b, q, keys], I.f32) * scale, visible, -I.inf)
        e = I.exp(v - I.reduce.max(v, axis=0))
        out[b, q, keys] = I.cast(e / I.reduce.sum(e, axis=0), I.f16)


def reference(scores, scale, offset):
    import numpy as np

    _, Q, K = scores.shape
    visible = np.arange(K) <= np.arange(Q)[:, None] + offset
    v = np.where(visible, scores.astype(np.float64) * scale, -np.inf)
    e = np.exp(v - np.max(v, axis=2, keepdims=True, initial=-np.inf))
    return (e / np.sum(e, axis=2, keepdims=True)).astype(np.float16)
