"""Largest fall of every price series below its running maximum, and the running maximum itself."""

import intent
import intent.language as I

CASES = [
    {"M": 5, "T": 37},
    {"M": 4, "T": 64},
    {"M": 1, "T": 1},
    {"M": 0, "T": 3},
]
LARGE = [{"M": 67, "T": 517}, {"M": 2, "T": 20_011}]


@intent.kernel
def drawdown(
    price: I.In[I.f64, ("M", "T")],
    peak: I.Out[I.f64, ("M", "T")],
    deepest: I.Out[I.f64, ("M",)],
):
    M, T = price.shape
    days = I.domain(0, T)
    for series in I.parallel(I.domain(0, M)):
        p = price[series, days]
        highest = I.cummax(p, axis=0)
        peak[series, days] = highest
        deepest[series] = I.reduce.max(highest - p, axis=0)


def reference(price):
    import numpy as np

    peak = np.maximum.accumulate(price, axis=1)
    return peak, np.max(peak - price, axis=1, initial=-np.inf)
