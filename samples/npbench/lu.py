"""LU factors of a matrix without pivoting, in place: L below the diagonal, whose own diagonal is one, and U.

Each step takes the outer product of a column and a row from all that is behind them. Columns are divided by their
pivots at the very end, so that no step writes what another of its programs reads.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 60}, "M": {"N": 220}}
CASES = [{"N": 5}, {"N": 8}, {"N": 1}, {"N": 0}]


@intent.kernel
def eliminate(a: I.InOut[I.f64, ("N", "N")], k: I.index):
    N, _ = a.shape
    rows = I.domain(k + 1, N)
    columns = I.domain(k + 1, N)
    a[rows, columns] = a[rows, columns] - (a[rows, k] / a[k, k])[:, None] * a[k, columns]


@intent.kernel
def diagonal(a: I.In[I.f64, ("N", "N")], pivots: I.Out[I.f64, ("N",)]):
    i = I.indices(I.domain(0, a.shape[0]))
    pivots[:] = a[i, i]


@intent.kernel
def divide(pivots: I.In[I.f64, ("N",)], a: I.InOut[I.f64, ("N", "N")]):
    rows = I.domain(0, a.shape[0])
    columns = I.domain(0, a.shape[0])
    x = a[rows, columns]
    below = I.indices(columns)[None, :] < I.indices(rows)[:, None]
    a[rows, columns] = I.select(below, x / pivots[columns], x)


def build(context):
    step = context.compile("eliminate", eliminate)
    pivots_of = context.compile("diagonal", diagonal)
    finish = context.compile("divide", divide)

    def lu(a):
        for k in range(a.shape[0] - 1):
            step(a, k)
        finish(pivots_of.run(a), a)

    return lu


def inputs(rng, case):
    import numpy as np

    N = case["N"]
    return {"a": rng.standard_normal((N, N)) + 2 * N * np.eye(N)}


def reference(a):
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]
