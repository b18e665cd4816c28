"""One new query for every sequence; page `pages[b, p]` holds its keys and values from p * P on."""

import intent
import intent.language as I

P = 16
FINITE = ["keys", "values"]
CASES = [
    {"B": 3, "H": 2, "G": 4, "F": 11, "M": 5, "D": 16},
    {"B": 1, "H": 1, "G": 1, "F": 1, "M": 1, "D": 1},
    {"B": 2, "H": 1, "G": 3, "F": 4, "M": 0, "D": 8},
]
LARGE = [{"B": 7, "H": 3, "G": 8, "F": 300, "M": 40, "D": 64}]


@intent.fn
def summarize(page, position, keys, values, q, length, h):
    k = keys[page, position % P, h, :]
    v = values[page, position % P, h, :]
    scores = I.matmul(q, k, transpose_rhs=True, acc_dtype=I.f32)
    scores = I.mask(scores, I.reshape(position < length, (1, position.shape[0])), -I.inf)
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
def paged_decode(
    q: I.In[I.f16, ("B", "H", "G", "D")],
    keys: I.In[I.f16, ("F", P, "H", "D")],
    values: I.In[I.f16, ("F", P, "H", "D")],
    pages: I.In[I.i32, ("B", "M")],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "H", "G", "D")],
):
    B, H, G, D = q.shape
    positions = I.indices(I.domain(0, pages.shape[1] * P))
    group = I.domain(0, G)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        page = I.cast(pages[b, positions // P], I.index)
        I.assume_in_bounds(page, keys, axis=0)
        I.assume_in_bounds(page, values, axis=0)
        found = I.region_fold(
            source=(page, positions),
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(
                largest=I.full((G,), -I.inf, dtype=I.f32),
                mass=I.full((G,), 0.0, dtype=I.f32),
                moment=I.full((G, D), 0.0, dtype=I.f32),
            ),
            operands=(keys, values, q[b, h, group, :], I.cast(lengths[b], I.index), h),
        )
        out[b, h, group, :] = I.cast(found.moment / found.mass[:, None], I.f16)


def inputs(rng, case):
    import numpy as np

    lengths = rng.integers(0, case["M"] * P + 1, case["B"]).astype(np.int32)
    return {"pages": rng.integers(0, case["F"], (case["B"], case["M"])).astype(np.int32), "lengths": lengths}


def reference(q, keys, values, pages, lengths):
    import numpy as np

    out = np.full(q.shape, np.nan)
    for b, length in enumerate(lengths):
        at = np.arange(length)
        k = keys[pages[b, at // P], at % P].astype(np.float64)
        v = values[pages[b, at // P], at % P].astype(np.float64)
        if length:
            with np.errstate(invalid="ignore", over="ignore"):
                scores = np.einsum("hgd,thd->hgt", q[b].astype(np.float64), k)
                weights = np.exp(scores - scores.max(axis=2, keepdims=True))
                out[b] = np.einsum("hgt,thd->hgd", weights / weights.sum(axis=2, keepdims=True), v)
    return out.astype(np.float16)
