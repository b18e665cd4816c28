"""Causal attention in f16: the keys are folded in slices, so that no row of scores is ever stored.

A slice's summary is the largest score of every query, the mass of exp2(score - largest) and the weighted sum of
values. Two summaries merge by rescaling both to the larger maximum.
"""

import intent
import intent.language as I

LOWEST = -1.0e38
FINITE = ["v"]
TOLERANCE = 4e-3
CASES = [
    {"B": 1, "H": 2, "S": 37, "T": 37, "D": 16},
    {"B": 1, "H": 1, "S": 5, "T": 70, "D": 8},
    {"B": 1, "H": 1, "S": 130, "T": 65, "D": 16},
    {"B": 1, "H": 1, "S": 1, "T": 1, "D": 1},
    {"B": 0, "H": 1, "S": 3, "T": 3, "D": 4},
]
LARGE = [{"B": 2, "H": 3, "S": 517, "T": 517, "D": 128}, {"B": 1, "H": 2, "S": 300, "T": 700, "D": 64}]


@intent.fn
def summarize(k, v, key, q, query, scale):
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32) * scale
    seen = key[None, :] <= query[:, None]
    scores = I.mask(scores, seen, LOWEST)
    largest = I.reduce.max(scores, axis=1)
    weights = I.mask(I.exp2(scores - largest[:, None], approximate=True, flush_to_zero=True), seen, 0.0)
    return I.record(
        largest=largest,
        mass=I.reduce.sum(weights, axis=1),
        moment=I.matmul(I.cast(weights, I.f16), v, acc_dtype=I.f32),
    )


@intent.fn
def merge(lhs, rhs):
    largest = I.maximum(lhs.largest, rhs.largest)
    left = I.exp2(lhs.largest - largest, approximate=True, flush_to_zero=True)
    right = I.exp2(rhs.largest - largest, approximate=True, flush_to_zero=True)
    return I.record(
        largest=largest,
        mass=lhs.mass * left + rhs.mass * right,
        moment=lhs.moment * left[:, None] + rhs.moment * right[:, None],
    )


@intent.kernel
def flash_attention(
    q: I.In[I.f16, ("B", "H", "S", "D")],
    k: I.In[I.f16, ("B", "H", "T", "D")],
    v: I.In[I.f16, ("B", "H", "T", "D")],
    scale: I.f32,
    out: I.Out[I.f16, ("B", "H", "S", "D")],
):
    B, H, S, D = q.shape
    queries = I.domain(0, S)
    keys = I.domain(0, k.shape[2])
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        found = I.region_fold(
            source=(k[b, h, keys, :], v[b, h, keys, :], I.indices(keys)),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                largest=I.full((S,), LOWEST, dtype=I.f32),
                mass=I.full((S,), 0.0, dtype=I.f32),
                moment=I.full((S, D), 0.0, dtype=I.f32),
            ),
            operands=(q[b, h, queries, :], I.indices(queries), scale * I.LOG2E),
        )
        out[b, h, queries, :] = I.cast(found.moment / found.mass[:, None], I.f16)


def reference(q, k, v, scale):
    import numpy as np

    scores = np.einsum("bhsd,bhtd->bhst", q.astype(np.float64), k.astype(np.float64)) * scale
    seen = np.arange(k.shape[2])[None, :] <= np.arange(q.shape[2])[:, None]
    scores = np.where(seen, scores, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        weights = np.exp(scores - np.max(scores, axis=3, keepdims=True, initial=-1e38))
        out = np.einsum("bhst,bhtd->bhsd", weights, v.astype(np.float64)) / np.sum(weights, axis=3)[..., None]
    return out.astype(np.float16)
