"""Attention of which several query heads share one head of keys and values, over a sliding window of keys.

The heads of a group are further rows of one product: row r is query r // G of head r % G.
"""

import intent
import intent.language as I

FINITE = ["v"]
CASES = [
    {"B": 1, "K": 2, "G": 3, "S": 37, "D": 16, "window": 9},
    {"B": 1, "K": 1, "G": 2, "S": 70, "D": 8, "window": 1000},
    {"B": 1, "K": 1, "G": 1, "S": 1, "D": 1, "window": 1},
    {"B": 1, "K": 2, "G": 2, "S": 0, "D": 4, "window": 3},
]
LARGE = [{"B": 2, "K": 2, "G": 4, "S": 517, "D": 64, "window": 100}]


@intent.fn
def summarize(k, v, key, q, query, window):
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32)
    distance = query[:, None] - key[None, :]
    scores = I.mask(scores, (distance >= 0) & (distance < window), -I.inf)
    largest = I.reduce.max(scores, axis=1)
    shift = I.select(largest == -I.inf, 0.0, largest)
    weights = I.exp(scores - shift[:, None])
    return I.record(
        largest=largest,
        mass=I.reduce.sum(weights, axis=1),
        moment=I.matmul(I.cast(weights, I.bf16), v, acc_dtype=I.f32),
    )


@intent.fn
def merge(lhs, rhs):
    largest = I.maximum(lhs.largest, rhs.largest)
    shift = I.select(largest == -I.inf, 0.0, largest)
    left = I.exp(lhs.largest - shift)
    right = I.exp(rhs.largest - shift)
    return I.record(
        largest=largest,
        mass=lhs.mass * left + rhs.mass * right,
        moment=lhs.moment * left[:, None] + rhs.moment * right[:, None],
    )


@intent.kernel
def grouped_query_attention(
    q: I.In[I.bf16, ("B", "S", "K", "G", "D")],
    k: I.In[I.bf16, ("B", "S", "K", "D")],
    v: I.In[I.bf16, ("B", "S", "K", "D")],
    window: I.i32,
    out: I.Out[I.bf16, ("B", "S", "K", "G", "D")],
):
    B, S, K, G, D = q.shape
    queries = I.domain(0, S)
    keys = I.domain(0, S)
    for b, kind, g in I.parallel((I.domain(0, B), I.domain(0, K), I.domain(0, G))):
        found = I.region_fold(
            source=(k[b, keys, kind, :], v[b, keys, kind, :], I.indices(keys)),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                largest=I.full((S,), -I.inf, dtype=I.f32),
                mass=I.full((S,), 0.0, dtype=I.f32),
                moment=I.full((S, D), 0.0, dtype=I.f32),
            ),
            operands=(q[b, queries, kind, g, :], I.indices(queries), I.cast(window, I.index)),
        )
        out[b, queries, kind, g, :] = I.cast(found.moment / found.mass[:, None], I.bf16)


def reference(q, k, v, window):
    import ml_dtypes
    import numpy as np

    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    distance = np.arange(q.shape[1])[:, None] - np.arange(q.shape[1])[None, :]
    scores = np.einsum("bskgd,btkd->bkgst", q, k)
    scores = np.where((distance >= 0) & (distance < window), scores, -np.inf)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        weights = np.exp(scores - np.max(scores, axis=4, keepdims=True, initial=-1e38))
        out = np.einsum("bkgst,btkd->bskgd", weights, v) / np.einsum("bkgst->bskg", weights)[..., None]
    return out.astype(ml_dtypes.bfloat16)
