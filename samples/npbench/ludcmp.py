"""Solve A x = b: LU factors of A without pivoting, in place, then L y = b and U x = y."""

import intent
import intent.language as I

SIZES = {"S": {"N": 60}, "M": {"N": 220}}
CASES = [{"N": 5}, {"N": 8}, {"N": 1}]


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


@intent.kernel
def substitute(
    a: I.In[I.f64, ("N", "N")],
    b: I.In[I.f64, ("N",)],
    x: I.Out[I.f64, ("N",)],
    y: I.Out[I.f64, ("N",)],
):
    N, _ = a.shape
    n = I.domain(0, N)
    i = I.indices(n)
    rest = b[n]
    for k in range(N):
        rest = I.select(i > k, rest - a[n, k] * rest[k], rest)
    y[n] = rest
    for back in range(N):
        k = N - 1 - back
        unknown = rest[k] / a[k, k]
        rest = I.select(i == k, unknown, I.select(i < k, rest - a[n, k] * unknown, rest))
    x[n] = rest


def build(context):
    step = context.compile("eliminate", eliminate)
    pivots_of = context.compile("diagonal", diagonal)
    finish = context.compile("divide", divide)
    solve = context.compile("substitute", substitute)

    def ludcmp(a, b):
        for k in range(a.shape[0] - 1):
            step(a, k)
        finish(pivots_of.run(a), a)
        return solve.run(a, b)

    return ludcmp


def inputs(rng, case):
    import numpy as np

    N = case["N"]
    return {"a": rng.standard_normal((N, N)) + 2 * N * np.eye(N), "b": rng.standard_normal(N)}


def reference(a, b):
    import numpy as np

    x, y = np.zeros_like(b), np.zeros_like(b)
    for i in range(len(a)):
        for j in range(i):
            a[i, j] = (a[i, j] - a[i, :j] @ a[:j, j]) / a[j, j]
        for j in range(i, len(a)):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(len(a)):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in reversed(range(len(a))):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y
