"""Histograms of the rows of a u8 image, without the pixels that a mask excludes."""

import intent
import intent.language as I

LEVELS = 256


@intent.kernel
def image_histogram(
    image: I.In[I.u8, ("H", "W")],
    keep: I.In[I.bool, ("H", "W")],
    counts: I.Out[I.i32, ("H", LEVELS)],
):
    H, W = image.shape
    columns = I.domain(0, W)
    for row in I.parallel(I.domain(0, H)):
        counts[row, :] = I.histogram(image[row, columns], bins=LEVELS, valid=keep[row, columns], count_dtype=I.i32)


def reference(image, keep):
    import numpy as np

    rows = [np.bincount(row[kept], minlength=LEVELS) for row, kept in zip(image, keep, strict=True)]
    return np.array(rows, dtype=np.int32).reshape(len(image), LEVELS)
