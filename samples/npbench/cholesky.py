"""Cholesky factor of a symmetric positive definite matrix, in its lower triangle; what is above the diagonal stays.

A step takes from all later columns what column k contributes to them. Columns are divided by the roots of their pivots
at the very end, so that no step writes what another of its programs reads.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 100}, "M": {"N": 300}}
CASES = [{"N": 5}, {"N": 8}, {"N": 1}, {"N": 0}]
REDUCED = {"N": 30}


@intent.kernel
def subtract(a: I.InOut[I.f64, ("N", "N")], k: I.index):
    N, _ = a.shape
    for i, j in I.parallel((I.domain(k + 1, N), I.domain(k + 1, N))):
        if j <= i:
            a[i, j] = a[i, j] - a[i, k] * a[j, k] / a[k, k]


@intent.kernel
def diagonal(a: I.In[I.f64, ("N", "N")], roots: I.Out[I.f64, ("N",)]):
    i = I.indices(I.domain(0, a.shape[0]))
    roots[:] = I.sqrt(a[i, i])


@intent.kernel
def divide(roots: I.In[I.f64, ("N",)], a: I.InOut[I.f64, ("N", "N")]):
    rows = I.domain(0, a.shape[0])
    columns = I.domain(0, a.shape[0])
    x = a[rows, columns]
    lower = I.indices(columns)[None, :] <= I.indices(rows)[:, None]
    a[rows, columns] = I.select(lower, x / roots[columns], x)


def build(context):
    step = context.compile("subtract", subtract)
    roots_of = context.compile("diagonal", diagonal)
    finish = context.compile("divide", divide)

    def cholesky(a):
        for k in range(a.shape[0] - 1):
            step(a, k)
        finish(roots_of.run(a), a)

    return cholesky


def inputs(rng, case):
    import numpy as np

    N = case["N"]
    root = rng.standard_normal((N, N))
    return {"a": root @ root.T + N * np.eye(N)}


def reference(a):
    import numpy as np

    if len(a):
        a[:] = np.tril(np.linalg.cholesky(a)) + np.triu(a, 1)
