"""B = alpha L.T B, in place, for a lower triangular L with ones on its diagonal, which are not stored.

The product goes to a matrix of its own first: every column of it needs the whole column of B.
"""

import intent
import intent.language as I

SIZES = {"S": {"M": 65, "N": 80}, "M": {"M": 200, "N": 250}}
CASES = [{"M": 19, "N": 37}, {"M": 16, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}]


@intent.kernel
def product(
    alpha: I.f64,
    a: I.In[I.f64, ("M", "M")],
    b: I.In[I.f64, ("M", "N")],
    out: I.Out[I.f64, ("M", "N")],
):
    rows = I.domain(0, a.shape[0])
    below = I.domain(0, a.shape[0])
    strict = I.mask(a[below, rows], I.indices(below)[:, None] > I.indices(rows)[None, :], 0.0)
    out[rows, :] = alpha * (b[rows, :] + I.matmul(strict, b[below, :], acc_dtype=I.f64, transpose_lhs=True))


@intent.kernel
def copy(x: I.In[I.f64, ("M", "N")], out: I.Out[I.f64, ("M", "N")]):
    out[:, :] = x[:, :]


def build(context):
    times = context.compile("product", product)
    into = context.compile("copy", copy)

    def trmm(alpha, a, b):
        into(times.run(alpha, a, b), b)

    return trmm


def inputs(rng, case):
    import numpy as np

    M, N = case["M"], case["N"]
    lower = np.where(np.tri(M, k=-1, dtype=bool), rng.standard_normal((M, M)), np.nan)
    return {"alpha": 1.5, "a": lower, "b": rng.standard_normal((M, N))}


def reference(alpha, a, b):
    for i in range(len(a)):
        b[i] = alpha * (b[i] + a[i + 1 :, i] @ b[i + 1 :])
