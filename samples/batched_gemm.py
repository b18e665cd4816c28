"""c[i] = a[i] @ b[i] for every i, f32 throughout."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "M": 5, "K": 37, "N": 19},
    {"B": 2, "M": 16, "K": 16, "N": 16},
    {"B": 1, "M": 1, "K": 1, "N": 1},
    {"B": 0, "M": 2, "K": 2, "N": 2},
    {"B": 2, "M": 3, "K": 0, "N": 3},
]
LARGE = [{"B": 3, "M": 131, "K": 259, "N": 137}]


@intent.kernel
def batched_gemm(
    a: I.In[I.f32, ("B", "M", "K")],
    b: I.In[I.f32, ("B", "K", "N")],
    c: I.Out[I.f32, ("B", "M", "N")],
):
    B, M, K = a.shape
    N = b.shape[2]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, K)
    for i in I.parallel(I.domain(0, B)):
        c[i, m, n] = I.matmul(a[i, m, k], b[i, k, n], acc_dtype=I.f32)


def reference(a, b):
    import numpy as np

    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
