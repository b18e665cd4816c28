"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def max_pool(
    x: I.In[I.f32, ("B", "H", "W", "C")],
    out: I.Out[I.f32, ("B", "P", "Q", "C")],
):
    B, H, W, C = x.shape
    P = out.shape[1]
    Q = out.shape[2]
    b = I.domain(0, B)
    c = I.domain(0, C)
    for p in I.parallel(I.domain(0, P)):
        for q in I.parallel(I.domain(0, Q)):
            members = I.domain(I.maximum(0, 1 - p * 2), I.minimum(H + 1 - p * 2, 3))
            members_2 = I.domain(I.maximum(0, 1 - q * 2), I.minimum(W + 1 - q * 2, 3))
            out[b, p, q, c] = I.reduce.max(
                x[b, (p * 2 + I.indices(members) - 1)[:, None], q * 2 + I.indices(members_2) - 1, c], axis=(1, 2)
            )
