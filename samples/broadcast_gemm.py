"""One activation matrix per batch element times one weight per head: [B, 1, M, K] @ [H, K, N] -> [B, H, M, N]."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "M": 5, "K": 37, "H": 3, "N": 19},
    {"B": 2, "M": 16, "K": 16, "H": 2, "N": 16},
    {"B": 1, "M": 1, "K": 1, "H": 1, "N": 1},
    {"B": 0, "M": 2, "K": 2, "H": 2, "N": 2},
    {"B": 2, "M": 3, "K": 0, "H": 2, "N": 3},
]
LARGE = [{"B": 3, "M": 67, "K": 131, "H": 5, "N": 137}]


@intent.kernel
def broadcast_gemm(
    x: I.In[I.f16, ("B", 1, "M", "K")],
    w: I.In[I.f16, ("H", "K", "N")],
    out: I.Out[I.f16, ("B", "H", "M", "N")],
):
    out[:, :, :, :] = I.cast(I.matmul(x[:, :, :, :], w[:, :, :], acc_dtype=I.f32), I.f16)


def reference(x, w):
    import numpy as np

    return (x.astype(np.float64) @ w.astype(np.float64)).astype(np.float16)
