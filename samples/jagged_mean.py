"""Mean of each sequence of a jagged batch: b owns the rows offsets[b] up to offsets[b + 1]; empty ones give 0."""

import intent
import intent.language as I

CASES = [
    {"B": 5, "P": 6, "T": 23, "D": 19},
    {"B": 4, "P": 5, "T": 32, "D": 16},
    {"B": 1, "P": 2, "T": 1, "D": 1},
    {"B": 2, "P": 3, "T": 0, "D": 3},
    {"B": 0, "P": 1, "T": 0, "D": 3},
]
LARGE = [{"B": 37, "P": 38, "T": 2003, "D": 67}]


@intent.kernel
def jagged_mean(
    x: I.In[I.f32, ("T", "D")],
    offsets: I.In[I.i64, ("P",)],
    out: I.Out[I.f32, ("B", "D")],
):
    B, D = out.shape
    d = I.domain(0, D)
    batch = I.domain(0, B)
    sequences = I.ragged(batch, I.domain(0, x.shape[0]), offsets)
    for b in I.parallel(batch):
        rows = sequences[b]
        length = I.maximum(offsets[b + 1] - offsets[b], 1)
        out[b, d] = I.reduce.sum(x[rows, d], axis=0) / I.cast(length, I.f32)


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["T"] + 1, max(case["B"] - 1, 0)))
    return {"offsets": np.array([0, *cuts, case["T"]][: case["P"]], dtype=np.int64)}


def reference(x, offsets):
    import itertools

    import numpy as np

    rows = [x[a:b].astype(np.float64) for a, b in itertools.pairwise(offsets)]
    means = [each.sum(axis=0) / max(len(each), 1) for each in rows]
    return np.array(means, dtype=np.float32).reshape(len(rows), x.shape[1])
