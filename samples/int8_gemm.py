"""Product of int8 matrices with exact 32-bit sums, scaled per row and per column, with a bias."""

import intent
import intent.language as I


@intent.kernel
def int8_gemm(
    a: I.In[I.i8, ("M", "K")],
    b: I.In[I.i8, ("N", "K")],
    row_scale: I.In[I.f32, ("M",)],
    column_scale: I.In[I.f32, ("N",)],
    bias: I.In[I.f16, ("N",)],
    out: I.Out[I.f16, ("M", "N")],
):
    M, K = a.shape
    N = b.shape[0]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, K)
    total = I.matmul(a[m, k], b[n, k], acc_dtype=I.i32, transpose_rhs=True)
    scaled = I.cast(total, I.f32) * row_scale[m][:, None] * column_scale[n]
    out[m, n] = I.cast(scaled + I.cast(bias[n], I.f32), I.f16)


def inputs(rng, case):
    import numpy as np

    row_scale = rng.uniform(0.001, 0.01, case["M"]).astype(np.float32)
    return {"row_scale": row_scale, "column_scale": rng.uniform(0.001, 0.01, case["N"]).astype(np.float32)}


def reference(a, b, row_scale, column_scale, bias):
    import numpy as np

    total = a.astype(np.int32) @ b.astype(np.int32).T
    return (total.astype(np.float64) * row_scale[:, None] * column_scale + bias).astype(np.float16)
