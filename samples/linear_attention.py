"""Causal linear attention in slices: what lies before a slice is a matrix state, what lies within is a product."""

import intent
import intent.language as I

FINITE = ["query", "key", "value"]
TOLERANCE = 4e-3
CASES = [
    {"B": 1, "H": 2, "T": 37, "D": 16, "E": 16},
    {"B": 1, "H": 1, "T": 70, "D": 8, "E": 16},
    {"B": 1, "H": 1, "T": 1, "D": 1, "E": 1},
    {"B": 1, "H": 1, "T": 0, "D": 4, "E": 4},
]
LARGE = [{"B": 2, "H": 3, "T": 517, "D": 64, "E": 64}]


@intent.fn
def gather(query, key, value, position):
    return I.matmul(key, value, transpose_lhs=True, acc_dtype=I.f32)


@intent.fn
def join(lhs, rhs):
    return lhs + rhs


@intent.fn
def emit(query, key, value, position, state):
    scores = I.matmul(query, key, transpose_rhs=True, acc_dtype=I.f32)
    scores = I.mask(scores, position[None, :] <= position[:, None], 0.0)
    within = I.matmul(I.cast(scores, I.f16), value, acc_dtype=I.f32)
    return within + I.matmul(query, I.cast(state, I.f16), acc_dtype=I.f32)


@intent.kernel
def linear_attention(
    query: I.In[I.f16, ("B", "H", "T", "D")],
    key: I.In[I.f16, ("B", "H", "T", "D")],
    value: I.In[I.f16, ("B", "H", "T", "E")],
    out: I.Out[I.f32, ("B", "H", "T", "E")],
    last: I.Out[I.f32, ("B", "H", "D", "E")],
):
    B, H, T, D = query.shape
    E = value.shape[3]
    times = I.domain(0, T)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        nothing = I.zeros((D, E), I.f32)
        result, state = I.region_scan(
            source=(query[b, h, times, :], key[b, h, times, :], value[b, h, times, :], I.indices(times)),
            axis=0,
            summarize=gather,
            combine=join,
            identity=nothing,
            initial_state=nothing,
            apply=join,
            emit=emit,
        )
        out[b, h, times, :] = result
        last[b, h, :, :] = state


def reference(query, key, value):
    import numpy as np

    query, key, value = (each.astype(np.float64) for each in (query, key, value))
    scores = np.einsum("bhsd,bhtd->bhst", query, key) * np.tri(query.shape[2])
    out = np.einsum("bhst,bhte->bhse", scores, value)
    return out.astype(np.float32), np.einsum("bhtd,bhte->bhde", key, value).astype(np.float32)
