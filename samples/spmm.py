"""out = A @ x for a sparse matrix in compressed rows: a row is the ordered sum of its entries' rows of x."""

import intent
import intent.language as I

CASES = [
    {"R": 9, "P": 10, "C": 7, "E": 23, "D": 19},
    {"R": 16, "P": 17, "C": 16, "E": 64, "D": 32},
    {"R": 1, "P": 2, "C": 1, "E": 1, "D": 1},
    {"R": 3, "P": 4, "C": 5, "E": 0, "D": 4},
    {"R": 0, "P": 1, "C": 5, "E": 0, "D": 4},
]
LARGE = [{"R": 300, "P": 301, "C": 131, "E": 3000, "D": 67}]


@intent.kernel
def spmm(
    offsets: I.In[I.i32, ("P",)],
    columns: I.In[I.i32, ("E",)],
    values: I.In[I.f32, ("E",)],
    x: I.In[I.f32, ("C", "D")],
    out: I.Out[I.f32, ("R", "D")],
):
    R, D = out.shape
    d = I.domain(0, D)
    for r in I.parallel(I.domain(0, R)):
        total = I.zeros((D,), I.f32)
        for e in range(offsets[r], offsets[r + 1]):
            total = total + values[e] * x[columns[e], d]
        out[r, d] = total


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["E"] + 1, max(case["R"] - 1, 0)))
    offsets = np.array([0, *cuts, case["E"]][: case["P"]], dtype=np.int32)
    return {"offsets": offsets, "columns": rng.integers(0, case["C"], case["E"], dtype="int32")}


def reference(offsets, columns, values, x):
    import numpy as np

    out = np.zeros((len(offsets) - 1, x.shape[1]))
    np.add.at(out, np.repeat(np.arange(len(out)), np.diff(offsets)), values[:, None] * x[columns].astype(np.float64))
    return out.astype(np.float32)
