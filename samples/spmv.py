"""y = A @ x for a sparse matrix in compressed rows: row r owns the entries offsets[r] up to offsets[r + 1]."""

import intent
import intent.language as I

CASES = [
    {"R": 9, "P": 10, "C": 7, "E": 23},
    {"R": 16, "P": 17, "C": 16, "E": 64},
    {"R": 1, "P": 2, "C": 1, "E": 1},
    {"R": 3, "P": 4, "C": 5, "E": 0},
    {"R": 0, "P": 1, "C": 5, "E": 0},
]
LARGE = [{"R": 517, "P": 518, "C": 300, "E": 9000}]


@intent.kernel
def spmv(
    offsets: I.In[I.i32, ("P",)],
    columns: I.In[I.i32, ("E",)],
    values: I.In[I.f32, ("E",)],
    x: I.In[I.f32, ("C",)],
    y: I.Out[I.f32, ("R",)],
):
    for r in I.parallel(I.domain(0, y.shape[0])):
        total = I.cast(0.0, I.f32)
        for e in range(offsets[r], offsets[r + 1]):
            total += values[e] * x[I.cast(columns[e], I.index)]
        y[r] = total


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["E"] + 1, case["R"] - 1)) if case["R"] else []
    offsets = np.array([0, *cuts, case["E"]] if case["R"] else [0], dtype=np.int32)
    return {"offsets": offsets, "columns": rng.integers(0, case["C"], case["E"], dtype="int32")}


def reference(offsets, columns, values, x):
    import itertools

    import numpy as np

    products = values.astype(np.float64) * x[columns]
    return np.array([products[a:b].sum() for a, b in itertools.pairwise(offsets)], dtype=np.float32)
