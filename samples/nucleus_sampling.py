"""Draw a word from the smallest set of likeliest words that holds a mass of `top`; probabilities come sorted.

A word counts while the mass before it is below `top`; the draw u falls on the word where the prefix sum passes it.
"""

import intent
import intent.language as I


@intent.kernel
def nucleus_sampling(
    probability: I.In[I.f32, ("M", "V")],
    word: I.In[I.i32, ("M", "V")],
    u: I.In[I.f32, ("M",)],
    top: I.f32,
    out: I.Out[I.i32, ("M",)],
):
    M, V = probability.shape
    v = I.domain(0, V)
    for m in I.parallel(I.domain(0, M)):
        p = probability[m, v]
        before = I.cumsum(p, axis=0) - p
        kept = I.mask(p, before < top, 0.0)
        prefix = I.cumsum(kept, axis=0)
        passed = I.cast(prefix <= u[m] * I.reduce.sum(kept, axis=0), I.index)
        place = I.minimum(I.reduce.sum(passed, axis=0), V - 1)
        out[m] = word[m, place] if V > 0 else -1


def inputs(rng, case):
    import numpy as np

    # Multiples of 1/256: prefix sums do not depend on how they are taken.
    cuts = np.sort(rng.integers(0, 257, (case["M"], max(case["V"] - 1, 0))), axis=1)
    edges = np.concatenate([np.zeros((case["M"], 1)), cuts, np.full((case["M"], 1), 256)], axis=1)[:, : case["V"] + 1]
    probability = -np.sort(-np.diff(edges, axis=1) / 256, axis=1)
    word = np.argsort(rng.random((case["M"], case["V"])), axis=1)
    return {"probability": probability, "word": word, "u": rng.random(case["M"], dtype="float32")}


FINITE = ["probability", "u"]


def reference(probability, word, u, top):
    import numpy as np

    out = np.full(len(u), -1, np.int32)
    for m, p in enumerate(probability.astype(np.float64)):
        kept = np.where(np.cumsum(p) - p < top, p, 0.0)
        place = np.sum(np.cumsum(kept) <= u[m] * np.sum(kept))
        if len(p):
            out[m] = word[m, min(place, len(p) - 1)]
    return out
