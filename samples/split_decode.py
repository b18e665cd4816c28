"""Attention of one new query over a long cache, in two launches: parts of the keys side by side, then their merger.

A part leaves its largest score, its mass and its weighted values; an empty part leaves the identity.
"""

import intent
import intent.language as I

FINITE = ["q", "k", "v"]
CASES = [
    {"B": 2, "H": 2, "T": 45, "G": 3, "D": 16},
    {"B": 1, "H": 1, "T": 3, "G": 8, "D": 8},
    {"B": 1, "H": 2, "T": 1, "G": 1, "D": 1},
    {"B": 0, "H": 1, "T": 5, "G": 2, "D": 4},
]
LARGE = [{"B": 3, "H": 4, "T": 3001, "G": 16, "D": 64}]


@intent.fn
def summarize(k, v, q):
    scores = I.reduce.sum(k * q[None, :], axis=1)
    largest = I.reduce.max(scores, axis=0)
    weights = I.exp(scores - largest)
    return I.record(
        largest=largest, mass=I.reduce.sum(weights, axis=0), moment=I.reduce.sum(weights[:, None] * v, axis=0)
    )


@intent.fn
def merge(lhs, rhs):
    largest = I.maximum(lhs.largest, rhs.largest)
    shift = I.select(largest == -I.inf, 0.0, largest)
    left = I.exp(lhs.largest - shift)
    right = I.exp(rhs.largest - shift)
    return I.record(
        largest=largest, mass=lhs.mass * left + rhs.mass * right, moment=lhs.moment * left + rhs.moment * right
    )


@intent.kernel
def attend_parts(
    q: I.In[I.f32, ("B", "H", "D")],
    k: I.In[I.f32, ("B", "H", "T", "D")],
    v: I.In[I.f32, ("B", "H", "T", "D")],
    largest: I.Out[I.f32, ("B", "H", "G")],
    mass: I.Out[I.f32, ("B", "H", "G")],
    moment: I.Out[I.f32, ("B", "H", "G", "D")],
):
    B, H, T, D = k.shape
    G = largest.shape[2]
    keys = I.domain(0, T)
    for b, h, g in I.parallel((I.domain(0, B), I.domain(0, H), I.domain(0, G))):
        part = keys[g * T // G : (g + 1) * T // G]
        found = I.region_fold(
            source=(k[b, h, part, :], v[b, h, part, :]),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                largest=I.cast(-I.inf, I.f32), mass=I.cast(0.0, I.f32), moment=I.full((D,), 0.0, dtype=I.f32)
            ),
            operands=(q[b, h, :],),
        )
        largest[b, h, g] = found.largest
        mass[b, h, g] = found.mass
        moment[b, h, g, :] = found.moment


@intent.kernel
def merge_parts(
    largest: I.In[I.f32, ("B", "H", "G")],
    mass: I.In[I.f32, ("B", "H", "G")],
    moment: I.In[I.f32, ("B", "H", "G", "D")],
    out: I.Out[I.f32, ("B", "H", "D")],
):
    B, H, _, _ = moment.shape
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        highest = I.reduce.max(largest[b, h, :], axis=0)
        factor = I.exp(largest[b, h, :] - highest)
        total = I.reduce.sum(mass[b, h, :] * factor, axis=0)
        out[b, h, :] = I.reduce.sum(moment[b, h, :, :] * factor[:, None], axis=0) / total


def build(context):
    attend = context.compile("attend", attend_parts)
    merged = context.compile("merge", merge_parts)

    def split_decode(q, k, v):
        largest, mass, moment = attend.run(q, k, v, G=16)
        return merged.run(largest, mass, moment)

    return split_decode


def attend_parts_reference(q, k, v, case):
    import numpy as np

    parts, length = case["G"], k.shape[2]
    largest = np.full((*q.shape[:2], parts), -np.inf)
    mass, moment = np.zeros(largest.shape), np.zeros((*largest.shape, q.shape[2]))
    for g in range(parts):
        part = slice(g * length // parts, (g + 1) * length // parts)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.einsum("bhd,bhtd->bht", q.astype(np.float64), k[:, :, part].astype(np.float64))
            largest[:, :, g] = np.max(scores, axis=2, initial=-np.inf)
            weights = np.exp(scores - largest[:, :, g, None])
            mass[:, :, g] = weights.sum(axis=2)
            moment[:, :, g] = np.einsum("bht,bhtd->bhd", weights, v[:, :, part].astype(np.float64))
    return tuple(each.astype(np.float32) for each in (largest, mass, moment))


def merge_parts_reference(largest, mass, moment):
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        factor = np.exp(largest.astype(np.float64) - np.max(largest, axis=2, keepdims=True, initial=-np.inf))
        total = np.sum(mass * factor, axis=2)
        return (np.sum(moment * factor[..., None], axis=2) / total[..., None]).astype(np.float32)
