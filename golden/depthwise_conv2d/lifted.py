"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def depthwise_conv2d(
    x: I.In[I.f32, ("B", "H", "W", "C")],
    weight: I.In[I.f32, ("V", "V_2", "C")],
    bias: I.In[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "H", "W", "C")],
):
    B, H, W, C = x.shape
    b = I.domain(0, B)
    c = I.domain(0, C)
    for h in I.parallel(I.domain(0, H)):
        for w in I.parallel(I.domain(0, W)):
            members = I.domain(I.maximum(0, 1 - h), I.minimum(H + 1 - h, 3))
            members_2 = I.domain(I.maximum(0, 1 - w), I.minimum(W + 1 - w, 3))
            weight_sum = I.reduce.sum(
                x[b, (h + I.indices(members) - 1)[:, None], w + I.indices(members_2) - 1, c]
                * weight[members, members_2, c],
                axis=(1, 2),
            )
            out[b, h, w, c] = I.minimum(I.maximum(bias[c] + weight_sum, 0.0), 6.0)
