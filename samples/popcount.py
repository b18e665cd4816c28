"""Number of set bits of every u32, by adding neighbouring fields of 1, 2 and 4 bits in parallel."""

import intent
import intent.language as I


@intent.kernel
def popcount(
    x: I.In[I.u32, ("N",)],
    out: I.Out[I.i32, ("N",)],
):
    n = I.domain(0, x.shape[0])
    v = x[n]
    v = v - ((v >> 1) & 0x55555555)
    v = (v & 0x33333333) + ((v >> 2) & 0x33333333)
    v = (v + (v >> 4)) & 0x0F0F0F0F
    out[n] = I.cast((v * 0x01010101) >> 24, I.i32)


def reference(x):
    import numpy as np

    return np.bitwise_count(x).astype(np.int32)
