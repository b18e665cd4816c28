"""Sampled product: for every entry (row, column) of a sparse matrix the inner product of a row of a and a row of b."""

import intent
import intent.language as I

CASES = [
    {"E": 23, "R": 9, "C": 7, "K": 19},
    {"E": 32, "R": 8, "C": 8, "K": 32},
    {"E": 1, "R": 1, "C": 1, "K": 1},
    {"E": 0, "R": 3, "C": 2, "K": 4},
    {"E": 4, "R": 3, "C": 2, "K": 0},
]
LARGE = [{"E": 2003, "R": 131, "C": 67, "K": 130}]


@intent.kernel
def sddmm(
    row: I.In[I.i32, ("E",)],
    column: I.In[I.i32, ("E",)],
    values: I.In[I.f32, ("E",)],
    a: I.In[I.f16, ("R", "K")],
    b: I.In[I.f16, ("C", "K")],
    out: I.Out[I.f32, ("E",)],
):
    k = I.domain(0, a.shape[1])
    for e in I.parallel(I.domain(0, row.shape[0])):
        product = I.cast(a[row[e], k], I.f32) * I.cast(b[column[e], k], I.f32)
        out[e] = values[e] * I.reduce.sum(product, axis=0)


def inputs(rng, case):
    return {"row": rng.integers(0, case["R"], case["E"]), "column": rng.integers(0, case["C"], case["E"])}


def reference(row, column, values, a, b):
    import numpy as np

    products = np.sum(a[row].astype(np.float64) * b[column].astype(np.float64), axis=1)
    return (values * products).astype(np.float32)
