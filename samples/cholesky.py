"""Cholesky factors of a batch of small symmetric positive definite matrices, in the lower triangles, in place."""

import intent
import intent.language as I

CASES = [
    {"B": 5, "N": 6},
    {"B": 4, "N": 8},
    {"B": 1, "N": 1},
    {"B": 0, "N": 3},
    {"B": 2, "N": 0},
]
LARGE = [{"B": 131, "N": 16}]


@intent.kernel
def cholesky(a: I.InOut[I.f32, ("B", "N", "N")]):
    B, N, _ = a.shape
    for b in I.parallel(I.domain(0, B)):
        for j in range(N):
            pivot = a[b, j, j]
            for k in range(j):
                pivot -= a[b, j, k] * a[b, j, k]
            pivot = I.sqrt(pivot)
            a[b, j, j] = pivot
            for i in range(j + 1, N):
                rest = a[b, i, j]
                for k in range(j):
                    rest -= a[b, i, k] * a[b, j, k]
                a[b, i, j] = rest / pivot


def inputs(rng, case):
    import numpy as np

    root = rng.standard_normal((case["B"], case["N"], case["N"]))
    matrix = root @ root.transpose(0, 2, 1) + case["N"] * np.eye(case["N"])
    return {"a": matrix.astype(np.float32)}


def reference(a):
    import numpy as np

    if a.size == 0:
        return a
    return (np.triu(a, 1) + np.linalg.cholesky(a.astype(np.float64))).astype(np.float32)
