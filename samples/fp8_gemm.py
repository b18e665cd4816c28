"""Product of f8e4m3fn matrices with one scale per row and 32 elements along the contracted axis."""

import intent
import intent.language as I

GROUP = 32

CASES = [
    {"M": 5, "N": 19, "G": 3},
    {"M": 16, "N": 16, "G": 2},
    {"M": 1, "N": 1, "G": 1},
    {"M": 0, "N": 4, "G": 2},
    {"M": 3, "N": 4, "G": 0},
]
LARGE = [{"M": 131, "N": 259, "G": 5}]


@intent.kernel
def fp8_gemm(
    a: I.In[I.f8e4m3fn, ("M", "G", GROUP)],
    b: I.In[I.f8e4m3fn, ("N", "G", GROUP)],
    a_scale: I.In[I.f32, ("M", "G")],
    b_scale: I.In[I.f32, ("N", "G")],
    out: I.Out[I.bf16, ("M", "N")],
):
    M, G, _ = a.shape
    N = b.shape[0]
    m = I.domain(0, M)
    n = I.domain(0, N)
    total = I.zeros((M, N), I.f32)
    for g in range(G):
        part = I.matmul(a[m, g, :], b[n, g, :], acc_dtype=I.f32, transpose_rhs=True)
        total = total + part * a_scale[m, g][:, None] * b_scale[n, g]
    out[m, n] = I.cast(total, I.bf16)


def inputs(rng, case):
    import ml_dtypes
    import numpy as np

    def halves(rows):
        return rng.standard_normal((rows, case["G"], GROUP)).astype(ml_dtypes.float8_e4m3fn)

    def scales(rows):
        return rng.uniform(0.5, 2.0, (rows, case["G"])).astype(np.float32)

    return {
        "a": halves(case["M"]), "b": halves(case["N"]), "a_scale": scales(case["M"]), "b_scale": scales(case["N"]),
    }  # fmt: skip


FINITE = ["a_scale", "b_scale"]


def reference(a, b, a_scale, b_scale):
    import ml_dtypes
    import numpy as np

    left = a.astype(np.float64) * a_scale[:, :, None]
    right = b.astype(np.float64) * b_scale[:, :, None]
    return np.einsum("mgk,ngk->mn", left, right).astype(ml_dtypes.bfloat16)
