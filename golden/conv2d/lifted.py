"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def conv2d(
    x: I.In[I.f16, ("B", "H", "W", "C")],
    w: I.In[I.f16, ("V", "V_2", "C", "F")],
    bias: I.In[I.f16, ("F",)],
    out: I.Out[I.f16, ("B", "H", "W", "F")],
):
    B, H, W, C = x.shape
    F = w.shape[3]
    b = I.domain(0, B)
    c = I.domain(0, C)
    f = I.domain(0, F)
    for h in I.parallel(I.domain(0, H)):
        for w_2 in I.parallel(I.domain(0, W)):
            members = I.domain(I.maximum(0, 1 - h), I.minimum(H + 1 - h, 3))
            members_2 = I.domain(I.maximum(0, 1 - w_2), I.minimum(W + 1 - w_2, 3))
            product = I.contract(
                x[b, (h + I.indices(members) - 1)[:, None], w_2 + I.indices(members_2) - 1, c],
                w[members, members_2, c, f],
                reduce=((1, 0), (2, 1), (3, 2)),
                acc_dtype=I.f32,
            )
            out[b, h, w_2, f] = I.cast(product + I.cast(bias[f], I.f32), I.f16)
