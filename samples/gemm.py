"""c = a @ b, f16 operands, f32 accumulation, f16 result."""

import intent
import intent.language as I


@intent.kernel
def gemm(
    a: I.In[I.f16, ("M", "K")],
    b: I.In[I.f16, ("K", "N")],
    c: I.Out[I.f16, ("M", "N")],
):
    M, K = a.shape
    N = b.shape[1]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, K)
    c[m, n] = I.cast(I.matmul(a[m, k], b[k, n], acc_dtype=I.f32), I.f16)


def reference(a, b):
    import numpy as np

    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
