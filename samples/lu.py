"""LU factors of a batch of matrices without pivoting, in place: the unit lower factor below the diagonal."""

import intent
import intent.language as I

CASES = [
    {"B": 3, "N": 7},
    {"B": 2, "N": 16},
    {"B": 1, "N": 1},
    {"B": 0, "N": 3},
    {"B": 2, "N": 0},
]
LARGE = [{"B": 17, "N": 200}]


@intent.kernel
def lu(a: I.InOut[I.f32, ("B", "N", "N")]):
    B, N, _ = a.shape
    rows = I.domain(0, N)
    for b in I.parallel(I.domain(0, B)):
        for j in range(N - 1):
            below = rows[j + 1 :]
            a[b, below, j] = a[b, below, j] / a[b, j, j]
            a[b, below, below] = a[b, below, below] - a[b, below, j][:, None] * a[b, j, below][None, :]


def inputs(rng, case):
    import numpy as np

    matrices = rng.standard_normal((case["B"], case["N"], case["N"])) + case["N"] * np.eye(case["N"])
    return {"a": matrices.astype(np.float32)}


def reference(a):
    import numpy as np

    factors = a.astype(np.float64)
    for j in range(a.shape[1] - 1):
        factors[:, j + 1 :, j] /= factors[:, j, j][:, None]
        factors[:, j + 1 :, j + 1 :] -= factors[:, j + 1 :, j, None] * factors[:, j, None, j + 1 :]
    return factors.astype(np.float32)
