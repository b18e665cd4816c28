"""Softmax within each segment of a packed vector of scores, one column per attention head, as graph attention needs."""

import intent
import intent.language as I

CASES = [
    {"S": 5, "P": 6, "E": 23, "H": 3},
    {"S": 4, "P": 5, "E": 32, "H": 4},
    {"S": 1, "P": 2, "E": 1, "H": 1},
    {"S": 2, "P": 3, "E": 0, "H": 3},
    {"S": 2, "P": 3, "E": 4, "H": 0},
]
LARGE = [{"S": 37, "P": 38, "E": 2003, "H": 8}]


@intent.kernel
def segment_softmax(
    scores: I.In[I.f32, ("E", "H")],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("E", "H")],
):
    E, H = scores.shape
    h = I.domain(0, H)
    segments = I.ragged(I.domain(0, offsets.shape[0] - 1), I.domain(0, E), offsets)
    for s in I.parallel(segments.outer):
        edges = segments[s]
        v = scores[edges, h]
        e = I.exp(v - I.reduce.max(v, axis=0))
        out[edges, h] = e / I.reduce.sum(e, axis=0)


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["E"] + 1, case["S"] - 1))
    return {"offsets": np.array([0, *cuts, case["E"]], dtype=np.int32)}


def reference(scores, offsets):
    import itertools

    import numpy as np

    out = np.zeros(scores.shape, np.float32)
    for a, b in itertools.pairwise(offsets):
        if a < b:
            v = scores[a:b].astype(np.float64)
            e = np.exp(v - v.max(axis=0))
            out[a:b] = e / e.sum(axis=0)
    return out
