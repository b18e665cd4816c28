"""Histogram equalisation of a u8 image through its cumulative histogram."""

import intent
import intent.language as I

LEVELS = 256


@intent.kernel
def equalize_image(
    image: I.In[I.u8, ("H", "W")],
    cumulative: I.In[I.i32, (LEVELS,)],
    out: I.Out[I.u8, ("H", "W")],
):
    H, W = image.shape
    rows = I.domain(0, H)
    columns = I.domain(0, W)
    darkest = cumulative[0]
    span = I.maximum(cumulative[LEVELS - 1] - darkest, 1)
    below = cumulative[I.cast(image[rows, columns], I.index)] - darkest
    level = (below * (LEVELS - 1) + span // 2) // span
    out[rows, columns] = I.cast(level, I.u8)


def inputs(rng, case):
    import numpy as np

    counts = rng.integers(0, 50, LEVELS)
    return {"cumulative": np.cumsum(counts).astype(np.int32)}


def reference(image, cumulative):
    import numpy as np

    darkest = cumulative[0]
    span = max(cumulative[-1] - darkest, 1)
    level = ((cumulative - darkest) * (LEVELS - 1) + span // 2) // span
    return level.astype(np.uint8)[image]
