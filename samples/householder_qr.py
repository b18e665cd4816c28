"""Householder QR of a batch of tall matrices in place: R on and above the diagonal, the reflectors below it.

The reflector of column j is I - tau v v', where v is 1 at the diagonal and stored below it.
"""

import intent
import intent.language as I

CASES = [
    {"B": 2, "M": 9, "N": 5},
    {"B": 1, "M": 16, "N": 8},
    {"B": 3, "M": 1, "N": 1},
    {"B": 0, "M": 3, "N": 2},
    {"B": 2, "M": 4, "N": 0},
]
LARGE = [{"B": 9, "M": 300, "N": 150}]


@intent.kernel
def householder_qr(a: I.InOut[I.f32, ("B", "M", "N")], tau: I.Out[I.f32, ("B", "N")]):
    B, M, N = a.shape
    rows, columns = I.domain(0, M), I.domain(0, N)
    for b in I.parallel(I.domain(0, B)):
        for j in range(N):
            below, right = rows[j:], columns[j + 1 :]
            x = a[b, below, j]
            pivot = a[b, j, j]
            norm = I.sqrt(I.reduce.sum(x * x, axis=0))
            beta = -norm if pivot >= 0.0 else norm
            factor = (beta - pivot) / beta if norm > 0.0 else 0.0
            scale = 1.0 / (pivot - beta) if norm > 0.0 else 0.0
            v = I.select(I.indices(below) == j, 1.0, x * scale)
            weights = I.reduce.sum(v[:, None] * a[b, below, right], axis=0)
            a[b, below, right] = a[b, below, right] - factor * v[:, None] * weights[None, :]
            a[b, below, j] = I.select(I.indices(below) == j, beta, v)
            tau[b, j] = factor


def reference(a):
    import numpy as np

    packed, tau = a.astype(np.float64), np.zeros((a.shape[0], a.shape[2]))
    for matrix, factors in zip(packed, tau, strict=True):
        for j in range(a.shape[2]):
            x = matrix[j:, j].copy()
            norm = np.sqrt(x @ x)
            beta = -norm if x[0] >= 0 else norm
            factors[j] = (beta - x[0]) / beta if norm > 0 else 0.0
            v = x * (1.0 / (x[0] - beta) if norm > 0 else 0.0)
            v[0] = 1.0
            matrix[j:, j + 1 :] -= factors[j] * np.outer(v, v @ matrix[j:, j + 1 :])
            matrix[j:, j] = v
            matrix[j, j] = beta
    return packed.astype(np.float32), tau.astype(np.float32)
