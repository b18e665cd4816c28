"""Attention over sequences of different lengths that lie behind each other: sequence b has the rows from offsets[b]
to offsets[b + 1], and sees nothing of the others.
"""

import intent
import intent.language as I

FINITE = ["v"]
CASES = [
    {"B": 3, "B1": 4, "H": 2, "N": 45, "D": 16},
    {"B": 1, "B1": 2, "H": 1, "N": 70, "D": 8},
    {"B": 1, "B1": 2, "H": 1, "N": 1, "D": 1},
    {"B": 2, "B1": 3, "H": 1, "N": 0, "D": 4},
]
LARGE = [{"B": 5, "B1": 6, "H": 3, "N": 700, "D": 64}]


@intent.fn
def summarize(k, v, key, q, query):
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32)
    scores = I.mask(scores, key[None, :] <= query[:, None], -I.inf)
    largest = I.reduce.max(scores, axis=1)
    shift = I.select(largest == -I.inf, 0.0, largest)
    weights = I.exp(scores - shift[:, None])
    return I.record(
        largest=largest,
        mass=I.reduce.sum(weights, axis=1),
        moment=I.matmul(I.cast(weights, I.f16), v, acc_dtype=I.f32),
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
def varlen_attention(
    q: I.In[I.f16, ("N", "H", "D")],
    k: I.In[I.f16, ("N", "H", "D")],
    v: I.In[I.f16, ("N", "H", "D")],
    offsets: I.In[I.i32, ("B1",)],
    out: I.Out[I.f16, ("N", "H", "D")],
):
    N, H, D = q.shape
    rows = I.ragged(outer=I.domain(0, offsets.shape[0] - 1), members=I.domain(0, N), offsets=offsets)
    for b in I.parallel(rows.outer):
        for h in I.parallel(I.domain(0, H)):
            own = rows[b]
            found = I.region_fold(
                source=(k[own, h, :], v[own, h, :], I.indices(own)),
                axis=0,
                summarize=summarize,
                combine=merge,
                identity=I.record(
                    largest=I.full((own,), -I.inf, dtype=I.f32),
                    mass=I.full((own,), 0.0, dtype=I.f32),
                    moment=I.full((own, D), 0.0, dtype=I.f32),
                ),
                operands=(q[own, h, :], I.indices(own)),
            )
            out[own, h, :] = I.cast(found.moment / found.mass[:, None], I.f16)


def inputs(rng, case):
    import numpy as np

    inner = np.sort(rng.integers(0, case["N"] + 1, case["B"] - 1))
    return {"offsets": np.concatenate([[0], inner, [case["N"]]]).astype(np.int32)}


def reference(q, k, v, offsets):
    import numpy as np

    out = np.zeros(q.shape)
    q, k, v = (each.astype(np.float64) for each in (q, k, v))
    for b in range(len(offsets) - 1):
        begin, end = offsets[b], offsets[b + 1]
        scores = np.einsum("shd,thd->hst", q[begin:end], k[begin:end])
        seen = np.tri(end - begin, dtype=bool)
        scores = np.where(seen, scores, -np.inf)
        with np.errstate(invalid="ignore", over="ignore"):
            weights = np.exp(scores - np.max(scores, axis=2, keepdims=True, initial=-1e38))
            weights /= np.sum(weights, axis=2, keepdims=True)
            out[begin:end] = np.einsum("hst,thd->shd", weights, v[begin:end])
    return out.astype(np.float16)
