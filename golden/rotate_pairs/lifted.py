"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rotate_pairs(
    x: I.In[I.f32, ("M", "N", 2)],
    out: I.Out[I.f32, ("M", "BLOCK_I")],
):
    M = x.shape[0]
    BLOCK_I = out.shape[1]
    block_i = I.domain(0, BLOCK_I)
    m = I.domain(0, M)
    out[m, block_i] = (
        I.select(I.indices(block_i) % 2 == 0, x[m, I.indices(block_i) // 2, 1] * -1.0, x[m, I.indices(block_i) // 2, 0])
    )
