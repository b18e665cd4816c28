"""C = alpha A A.T + beta C in the lower triangle of C, in place."""

import intent
import intent.language as I

SIZES = {"S": {"M": 50, "N": 70}, "M": {"M": 150, "N": 200}}
CASES = [{"M": 19, "N": 37}, {"M": 16, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}]


@intent.kernel
def syrk(alpha: I.f64, beta: I.f64, c: I.InOut[I.f64, ("N", "N")], a: I.In[I.f64, ("N", "M")]):
    rows = I.domain(0, c.shape[0])
    columns = I.domain(0, c.shape[0])
    product = I.matmul(a[rows, :], a[columns, :], acc_dtype=I.f64, transpose_rhs=True)
    lower = I.indices(columns)[None, :] <= I.indices(rows)[:, None]
    before = c[rows, columns]
    c[rows, columns] = I.select(lower, alpha * product + beta * before, before)


def inputs(rng, case):
    M, N = case["M"], case["N"]
    return {"alpha": 1.5, "beta": 1.2, "c": rng.standard_normal((N, N)), "a": rng.standard_normal((N, M))}


def reference(alpha, beta, c, a):
    for i in range(len(a)):
        c[i, : i + 1] = alpha * (a[: i + 1] @ a[i]) + beta * c[i, : i + 1]
