"""C = alpha A B + beta C, in place, for a symmetric A of which only the lower triangle is given."""

import intent
import intent.language as I

SIZES = {"S": {"M": 40, "N": 50}, "M": {"M": 120, "N": 150}}
CASES = [{"M": 19, "N": 37}, {"M": 16, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}]


@intent.kernel
def symm(
    alpha: I.f64,
    beta: I.f64,
    c: I.InOut[I.f64, ("M", "N")],
    a: I.In[I.f64, ("M", "M")],
    b: I.In[I.f64, ("M", "N")],
):
    row = I.indices(I.domain(0, a.shape[0]))[:, None]
    column = I.indices(I.domain(0, a.shape[0]))[None, :]
    full = a[I.maximum(row, column), I.minimum(row, column)]
    c[:, :] = alpha * I.matmul(full, b[:, :], acc_dtype=I.f64) + beta * c[:, :]


def inputs(rng, case):
    import numpy as np

    M, N = case["M"], case["N"]
    lower = np.where(np.tri(M, dtype=bool), rng.standard_normal((M, M)), np.nan)
    c, b = rng.standard_normal((2, M, N))
    return {"alpha": 1.5, "beta": 1.2, "c": c, "a": lower, "b": b}


def reference(alpha, beta, c, a, b):
    import numpy as np

    c *= beta
    for i in range(len(a)):
        c[:i] += alpha * np.outer(a[i, :i], b[i])
        c[i] += alpha * (a[i, : i + 1] @ b[: i + 1])
