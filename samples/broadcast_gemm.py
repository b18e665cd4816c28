"""One activation matrix per batch element times one weight per head: [B, 1, M, K] @ [H, K, N] -> [B, H, M, N]."""

import intent
import intent.language as I


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
