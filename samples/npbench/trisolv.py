"""Solve L x = b by forward substitution, a block of rows at a time.

One program solves the rows of a block; then all later rows at once take away what those unknowns contribute to them.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 2000}, "M": {"N": 5000}}
CASES = [{"N": 37}, {"N": 64}, {"N": 70}, {"N": 0}]

BLOCK = 32


@intent.kernel
def solve_rows(lower: I.In[I.f64, ("N", "N")], x: I.InOut[I.f64, ("N",)], begin: I.index):
    N = x.shape[0]
    block = I.domain(0, N)[begin : I.minimum(begin + BLOCK, N)]
    row = I.indices(block)
    rest = x[block]
    for k in block:
        unknown = rest[k - begin] / lower[k, k]
        rest = I.select(row == k, unknown, I.select(row > k, rest - lower[block, k] * unknown, rest))
    x[block] = rest


@intent.kernel
def subtract(lower: I.In[I.f64, ("N", "N")], x: I.InOut[I.f64, ("N",)], begin: I.index):
    N = x.shape[0]
    solved = I.domain(0, N)[begin : begin + BLOCK]
    later = I.domain(0, N)[begin + BLOCK :]
    x[later] = x[later] - I.matvec(lower[later, solved], x[solved], acc_dtype=I.f64)


@intent.kernel
def copy(b: I.In[I.f64, ("N",)], x: I.Out[I.f64, ("N",)]):
    x[:] = b[:]


def build(context):
    start = context.compile("copy", copy)
    solve = context.compile("solve_rows", solve_rows)
    forward = context.compile("subtract", subtract)

    def trisolv(lower, x, b):
        start(b, x)
        count = x.shape[0]
        for begin in range(0, count, BLOCK):
            solve(lower, x, begin)
            if begin + BLOCK < count:
                forward(lower, x, begin)

    return trisolv


def inputs(rng, case):
    import numpy as np

    N = case["N"]
    lower = np.tril(rng.standard_normal((N, N))) / max(N, 1) + np.eye(N)
    return {"lower": lower, "x": np.zeros(N), "b": rng.standard_normal(N)}


def reference(lower, x, b):
    for i in range(len(x)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
