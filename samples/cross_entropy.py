"""Cross-entropy loss of every row; rows whose target is IGNORED lose nothing."""

import intent
import intent.language as I

IGNORED = -100

CASES = [
    {"M": 5, "V": 37},
    {"M": 8, "V": 64},
    {"M": 1, "V": 1},
    {"M": 0, "V": 7},
]
LARGE = [{"M": 67, "V": 1031}, {"M": 3, "V": 40_009}]


@intent.kernel
def cross_entropy(
    logits: I.In[I.bf16, ("M", "V")],
    target: I.In[I.i64, ("M",)],
    loss: I.Out[I.f32, ("M",)],
):
    M, V = logits.shape
    columns = I.domain(0, V)
    for row in I.parallel(I.domain(0, M)):
        if target[row] == IGNORED:
            loss[row] = 0.0
        else:
            v = I.cast(logits[row, columns], I.f32)
            largest = I.reduce.max(v, axis=0)
            mass = I.reduce.sum(I.exp(v - largest), axis=0)
            picked = I.cast(logits[row, I.cast(target[row], I.index)], I.f32)
            loss[row] = I.log(mass) + largest - picked


def inputs(rng, case):
    import numpy as np

    target = rng.integers(0, case["V"], case["M"])
    return {"target": np.where(rng.random(case["M"]) < 0.25, IGNORED, target)}


def reference(logits, target):
    import numpy as np

    v = logits.astype(np.float64)
    largest = np.max(v, axis=1, initial=-np.inf)
    logsumexp = np.log(np.sum(np.exp(v - largest[:, None]), axis=1)) + largest
    ignored = target == IGNORED
    picked = v[np.arange(len(target)), np.where(ignored, 0, target)]
    return np.where(ignored, 0.0, logsumexp - picked).astype(np.float32)
