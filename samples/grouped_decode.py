"""One new query for every sequence over its own cache; G query heads share one head of keys and values.

Only the keys that a sequence has are visited: the fold runs over the part of the cache that is filled.
"""

import intent
import intent.language as I

FINITE = ["keys", "values"]
CASES = [
    {"B": 3, "H": 2, "G": 4, "T": 37, "D": 16},
    {"B": 1, "H": 1, "G": 1, "T": 1, "D": 1},
    {"B": 2, "H": 1, "G": 3, "T": 0, "D": 8},
]
LARGE = [{"B": 7, "H": 3, "G": 8, "T": 700, "D": 64}]


@intent.fn
def summarize(keys, values, q):
    scores = I.matmul(q, keys, transpose_rhs=True, acc_dtype=I.f32)
    largest = I.reduce.max(scores, axis=1)
    weights = I.exp(scores - largest[:, None])
    return I.record(
        largest=largest,
        mass=I.reduce.sum(weights, axis=1),
        moment=I.matmul(I.cast(weights, I.f16), values, acc_dtype=I.f32),
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
def grouped_decode(
    q: I.In[I.f16, ("B", "H", "G", "D")],
    keys: I.In[I.f16, ("B", "T", "H", "D")],
    values: I.In[I.f16, ("B", "T", "H", "D")],
    lengths: I.In[I.i32, ("B",)],
    scale: I.f32,
    out: I.Out[I.f16, ("B", "H", "G", "D")],
):
    B, H, G, D = q.shape
    cache = I.domain(0, keys.shape[1])
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        filled = cache[0 : I.minimum(I.cast(lengths[b], I.index), keys.shape[1])]
        scaled = I.cast(I.cast(q[b, h, :, :], I.f32) * scale, I.f16)
        found = I.region_fold(
            source=(keys[b, filled, h, :], values[b, filled, h, :]),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                largest=I.full((G,), -I.inf, dtype=I.f32),
                mass=I.full((G,), 0.0, dtype=I.f32),
                moment=I.full((G, D), 0.0, dtype=I.f32),
            ),
            operands=(scaled,),
        )
        out[b, h, :, :] = I.cast(found.moment / found.mass[:, None], I.f16)


def inputs(rng, case):
    import numpy as np

    return {"lengths": rng.integers(min(case["T"], 1), case["T"] + 1, case["B"]).astype(np.int32)}


def reference(q, keys, values, lengths, scale):
    import numpy as np

    out = np.full(q.shape, np.nan)
    scaled = (q.astype(np.float32) * np.float32(scale)).astype(np.float16).astype(np.float64)
    for b, length in enumerate(lengths):
        if length:
            k, v = (each[b, :length].astype(np.float64) for each in (keys, values))
            scores = np.einsum("hgd,thd->hgt", scaled[b], k)
            with np.errstate(invalid="ignore"):
                weights = np.exp(scores - scores.max(axis=2, keepdims=True))
            out[b] = np.einsum("hgt,thd->hgd", weights / weights.sum(axis=2, keepdims=True), v)
    return out.astype(np.float16)
