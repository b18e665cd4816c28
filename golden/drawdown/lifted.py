"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def drawdown(
    price: I.In[I.f64, ("M", "T")],
    peak: I.Out[I.f64, ("M", "T")],
    deepest: I.Out[I.f64, ("M",)],
):
    M, T = price.shape
    m = I.domain(0, M)
    t = I.domain(0, T)
    price_values = price[m, t]
    price_running = I.cummax(price_values, axis=1)
    peak[m, t] = price_running
    deepest[m] = I.reduce.max(price_running - price_values, axis=1)
