"""One new query for every sequence over a latent cache: all heads share one compressed row a position.

Keys and values are projections of that row of width R. The projections are absorbed into the queries before and into
the output after, so the row itself serves as key and as value; a rotary part of width P is added to the scores alone.
"""

import intent
import intent.language as I

FINITE = ["latent", "rotary"]
CASES = [
    {"B": 3, "H": 5, "S": 37, "R": 32, "P": 16},
    {"B": 1, "H": 1, "S": 1, "R": 1, "P": 1},
    {"B": 2, "H": 16, "S": 0, "R": 8, "P": 4},
]
LARGE = [{"B": 4, "H": 24, "S": 700, "R": 128, "P": 64}]


@intent.fn
def summarize(latent, rotary, position, q, q_rotary, length, scale):
    scores = I.matmul(q, latent, transpose_rhs=True, acc_dtype=I.f32)
    scores = (scores + I.matmul(q_rotary, rotary, transpose_rhs=True, acc_dtype=I.f32)) * scale
    scores = I.mask(scores, I.reshape(position < length, (1, position.shape[0])), -I.inf)
    largest = I.reduce.max(scores, axis=1)
    shift = I.select(largest == -I.inf, 0.0, largest)
    weights = I.exp(scores - shift[:, None])
    return I.record(
        largest=largest,
        mass=I.reduce.sum(weights, axis=1),
        moment=I.matmul(I.cast(weights, I.f16), latent, acc_dtype=I.f32),
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
def latent_decode(
    q: I.In[I.f16, ("B", "H", "R")],
    q_rotary: I.In[I.f16, ("B", "H", "P")],
    latent: I.In[I.f16, ("B", "S", "R")],
    rotary: I.In[I.f16, ("B", "S", "P")],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "H", "R")],
    scale: I.f32,
):
    B, H, R = q.shape
    heads = I.domain(0, H)
    positions = I.domain(0, latent.shape[1])
    for b in I.parallel(I.domain(0, B)):
        found = I.region_fold(
            source=(latent[b, positions, :], rotary[b, positions, :], I.indices(positions)),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                largest=I.full((heads,), -I.inf, dtype=I.f32),
                mass=I.full((heads,), 0.0, dtype=I.f32),
                moment=I.full((heads, R), 0.0, dtype=I.f32),
            ),
            operands=(q[b, heads, :], q_rotary[b, heads, :], I.cast(lengths[b], I.index), scale),
        )
        out[b, heads, :] = I.cast(found.moment / found.mass[:, None], I.f16)


def inputs(rng, case):
    import numpy as np

    lengths = rng.integers(0, case["S"] + 1, case["B"]).astype(np.int32)
    return {"lengths": lengths, "scale": float(np.float32((case["R"] + case["P"]) ** -0.5))}


def reference(q, q_rotary, latent, rotary, lengths, scale):
    import numpy as np

    out = np.full(q.shape, np.nan)
    for b, length in enumerate(lengths):
        if length:
            row, turned = latent[b, :length].astype(np.float64), rotary[b, :length].astype(np.float64)
            with np.errstate(invalid="ignore", over="ignore"):
                scores = (q[b].astype(np.float64) @ row.T + q_rotary[b].astype(np.float64) @ turned.T) * scale
                weights = np.exp(scores - scores.max(axis=1, keepdims=True))
                out[b] = weights / weights.sum(axis=1, keepdims=True) @ row
    return out.astype(np.float16)
