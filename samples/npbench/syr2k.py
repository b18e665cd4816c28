"""C = alpha (A B.T + B A.T) + beta C in the lower triangle of C, in place."""

import intent
import intent.language as I

SIZES = {"S": {"M": 35, "N": 50}, "M": {"M": 110, "N": 140}}
CASES = [{"M": 19, "N": 37}, {"M": 16, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}]


@intent.kernel
def syr2k(
    alpha: I.f64,
    beta: I.f64,
    c: I.InOut[I.f64, ("N", "N")],
    a: I.In[I.f64, ("N", "M")],
    b: I.In[I.f64, ("N", "M")],
):
    rows = I.domain(0, c.shape[0])
    columns = I.domain(0, c.shape[0])
    product = I.matmul(a[rows, :], b[columns, :], acc_dtype=I.f64, transpose_rhs=True)
    transposed = I.matmul(b[rows, :], a[columns, :], acc_dtype=I.f64, transpose_rhs=True)
    lower = I.indices(columns)[None, :] <= I.indices(rows)[:, None]
    before = c[rows, columns]
    c[rows, columns] = I.select(lower, alpha * (product + transposed) + beta * before, before)


def inputs(rng, case):
    M, N = case["M"], case["N"]
    a, b = rng.standard_normal((2, N, M))
    return {"alpha": 1.5, "beta": 1.2, "c": rng.standard_normal((N, N)), "a": a, "b": b}


def reference(alpha, beta, c, a, b):
    for i in range(len(a)):
        c[i, : i + 1] = alpha * (a[: i + 1] @ b[i] + b[: i + 1] @ a[i]) + beta * c[i, : i + 1]
