"""Means of data in `npt` rings of equal width between the smallest and the largest radius, by two histograms.

The last ring includes its outer edge. Every ring's sum is an atomic addition per sample, so its order is open.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 400000, "npt": 1000}, "M": {"N": 4000000, "npt": 1000}}
CASES = [{"N": 101, "npt": 5}, {"N": 64, "npt": 4}, {"N": 7, "npt": 1}]
REDUCED = {"N": 100000, "npt": 1000}


@intent.kernel
def span(radius: I.In[I.f64, ("N",)], low: I.Out[I.f64, ()], high: I.Out[I.f64, ()]):
    r = radius[:]
    high[()] = I.reduce.max(r, axis=0)
    low[()] = -I.reduce.max(-r, axis=0)


@intent.kernel
def clear(total: I.Out[I.f64, ("npt",)], count: I.Out[I.f64, ("npt",)]):
    total[:] = 0.0
    count[:] = 0.0


@intent.kernel
def gather(
    data: I.In[I.f64, ("N",)],
    radius: I.In[I.f64, ("N",)],
    low: I.In[I.f64, ()],
    high: I.In[I.f64, ()],
    total: I.InOut[I.f64, ("npt",)],
    count: I.InOut[I.f64, ("npt",)],
):
    n = I.domain(0, data.shape[0])
    npt = total.shape[0]
    scaled = (radius[n] - low[()]) * (I.cast(npt, I.f64) / (high[()] - low[()]))
    ring = I.minimum(I.cast(scaled, I.index), npt - 1)
    I.scatter_reduce(total, (ring,), data[n], combine=I.add)
    I.scatter_reduce(count, (ring,), I.full((n,), 1.0, dtype=I.f64), combine=I.add)


@intent.kernel
def divide(total: I.In[I.f64, ("npt",)], count: I.In[I.f64, ("npt",)], mean: I.Out[I.f64, ("npt",)]):
    mean[:] = total[:] / count[:]


def build(context):
    bounds = context.compile("span", span)
    start = context.compile("clear", clear)
    add = context.compile("gather", gather)
    finish = context.compile("divide", divide)

    def azimint_hist(data, radius, npt):
        low, high = bounds.run(radius)
        total = context.empty((npt,), I.f64)
        count = context.empty((npt,), I.f64)
        start(total, count)
        add(data, radius, low, high, total, count)
        return finish.run(total, count)

    return azimint_hist


def inputs(rng, case):
    return {"data": rng.random(case["N"]), "radius": rng.random(case["N"])}


def reference(data, radius, npt):
    import numpy as np

    with np.errstate(invalid="ignore"):
        return np.histogram(radius, npt, weights=data)[0] / np.histogram(radius, npt)[0]
