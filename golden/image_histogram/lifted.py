"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def image_histogram(
    image: I.In[I.u8, ("H", "W")],
    keep: I.In[I.bool, ("H", "W")],
    counts: I.Out[I.i32, ("H", "BLOCK_I")],
):
    H, W = image.shape
    BLOCK_I = counts.shape[1]
    w = I.domain(0, W)
    for h in I.parallel(I.domain(0, H)):
        for block_i in I.parallel(I.domain(0, BLOCK_I)):
            counts[h, block_i] = I.reduce.sum(
                I.cast((I.cast(I.cast(image[h, w], I.i32) - 0, I.index) == block_i) & keep[h, w], I.i32), axis=0
            )
