"""For every position of an i32 row, the sum of what comes after it: a reverse, exclusive prefix sum."""

import intent
import intent.language as I


@intent.kernel
def suffix_sum(
    x: I.In[I.i32, ("M", "N")],
    out: I.Out[I.i32, ("M", "N")],
):
    out[:, :] = I.cumsum(x[:, :], axis=1, inclusive=False, reverse=True)


def reference(x):
    import numpy as np

    after = np.cumsum(x[:, ::-1], axis=1, dtype=np.int32)[:, ::-1]
    return after - x
