"""Counts of values per bin of equal width between `low` and `high`; the last bin includes its upper edge."""

import intent
import intent.language as I

CASES = [
    {"N": 37, "B": 7},
    {"N": 64, "B": 8},
    {"N": 1, "B": 1},
    {"N": 0, "B": 3},
]
LARGE = [{"N": 20_011, "B": 100}]


@intent.kernel
def histogram(
    x: I.In[I.f32, ("N",)],
    low: I.f32,
    high: I.f32,
    counts: I.Out[I.i32, ("B",)],
):
    bins = counts.shape[0]
    v = x[:]
    inside = (v >= low) & (v <= high)
    place = I.floor((v - low) * (I.cast(bins, I.f32) / (high - low)))
    # What lies outside, NaN included, is no legal operand of a cast to an integer.
    bin = I.cast(I.mask(place, inside, 0.0), I.index)
    counts[:] = I.histogram(I.minimum(bin, bins - 1), bins=bins, valid=inside, count_dtype=I.i32)


CASES = [case | {"low": -1.0, "high": 1.0} for case in CASES]
LARGE = [case | {"low": -1.0, "high": 1.0} for case in LARGE]


def reference(x, low, high, case):
    import numpy as np

    inside = x[(x >= low) & (x <= high)]
    place = np.floor((inside - low) * (np.float32(case["B"]) / (high - low))).astype(np.int64)
    return np.bincount(np.minimum(place, case["B"] - 1), minlength=case["B"]).astype(np.int32)
