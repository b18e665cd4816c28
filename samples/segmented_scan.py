"""Prefix sums that start again wherever a flag is set: an associative scan of pairs (any flag, sum since it)."""

import intent
import intent.language as I

CASES = [
    {"M": 2, "N": 19},
    {"M": 1, "N": 16},
    {"M": 1, "N": 1},
    {"M": 0, "N": 3},
    {"M": 1, "N": 0},
]
LARGE = [{"M": 37, "N": 517}]


@intent.fn
def after(a, b):
    return I.record(start=a.start | b.start, total=I.select(b.start, b.total, a.total + b.total))


@intent.kernel
def segmented_scan(
    x: I.In[I.i32, ("M", "N")],
    start: I.In[I.bool, ("M", "N")],
    out: I.Out[I.i32, ("M", "N")],
):
    pairs = I.record(start=start[:, :], total=x[:, :])
    sums = I.scan(pairs, axis=1, identity=I.record(start=False, total=I.cast(0, I.i32)), combine=after)
    out[:, :] = sums.total


def reference(x, start):
    import numpy as np

    out = np.zeros_like(x)
    for row, flags, sums in zip(x, start, out, strict=True):
        total = np.int32(0)
        for n, (value, flag) in enumerate(zip(row, flags, strict=True)):
            total = value if flag else total + value
            sums[n] = total
    return out
