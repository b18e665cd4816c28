"""Gradient of cross entropy with smoothed labels, written over the logits; rows whose label is IGNORED get zero."""

import intent
import intent.language as I

IGNORED = -100


@intent.kernel
def cross_entropy_backward(
    logits: I.InOut[I.f32, ("M", "V")],
    label: I.In[I.i64, ("M",)],
    upstream: I.In[I.f32, ("M",)],
    smoothing: I.f32,
):
    M, V = logits.shape
    words = I.domain(0, V)
    for m in I.parallel(I.domain(0, M)):
        word = label[m]
        if word == IGNORED:
            logits[m, words] = 0.0
        else:
            v = logits[m, words]
            e = I.exp(v - I.reduce.max(v, axis=0))
            probability = e / I.reduce.sum(e, axis=0)
            chosen = I.indices(words) == I.cast(word, I.index)
            target = smoothing / I.cast(V, I.f32) + I.select(chosen, 1.0 - smoothing, I.zeros((V,), I.f32))
            logits[m, words] = (probability - target) * upstream[m]


def inputs(rng, case):
    import numpy as np

    label = rng.integers(0, max(case["V"], 1), case["M"])
    return {"label": np.where(rng.random(case["M"]) < 0.3, IGNORED, label)}


def reference(logits, label, upstream, smoothing):
    import numpy as np

    v = logits.astype(np.float64)
    e = np.exp(v - np.max(v, axis=1, keepdims=True, initial=-np.inf))
    probability = e / np.sum(e, axis=1, keepdims=True)
    chosen = np.arange(v.shape[1]) == label[:, None]
    target = smoothing / max(v.shape[1], 1) + np.where(chosen, 1.0 - smoothing, 0.0)
    gradient = (probability - target) * upstream[:, None]
    return np.where(label[:, None] == IGNORED, 0.0, gradient).astype(np.float32)
