"""Means of data in `bins` rings of equal width: the radius of each sample says in which ring it lies.

A ring takes the samples with inner <= radius < outer, so that those of the largest radius are in none.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 400000, "npt": 1000}, "M": {"N": 4000000, "npt": 1000}}
CASES = [{"N": 101, "npt": 5}, {"N": 64, "npt": 4}, {"N": 7, "npt": 1}]
REDUCED = {"N": 40000, "npt": 50}


@intent.kernel
def largest(radius: I.In[I.f64, ("N",)], out: I.Out[I.f64, ()]):
    out[()] = I.reduce.max(radius[:], axis=0)


@intent.kernel
def rings(
    data: I.In[I.f64, ("N",)],
    radius: I.In[I.f64, ("N",)],
    rmax: I.In[I.f64, ()],
    mean: I.Out[I.f64, ("npt",)],
):
    npt = mean.shape[0]
    for ring in I.parallel(I.domain(0, npt)):
        inner = rmax[()] * I.cast(ring, I.f64) / I.cast(npt, I.f64)
        outer = rmax[()] * I.cast(ring + 1, I.f64) / I.cast(npt, I.f64)
        r = radius[:]
        within = (inner <= r) & (r < outer)
        count = I.reduce.sum(I.cast(within, I.f64), axis=0)
        mean[ring] = I.reduce.sum(I.mask(data[:], within, 0.0), axis=0) / count


def build(context):
    find = context.compile("largest", largest)
    average = context.compile("rings", rings)

    def azimint_naive(data, radius, npt):
        return average.run(data, radius, find.run(radius), npt=npt)

    return azimint_naive


def inputs(rng, case):
    return {"data": rng.random(case["N"]), "radius": rng.random(case["N"])}


def reference(data, radius, npt):
    import itertools

    import numpy as np

    edges = radius.max() * np.arange(npt + 1) / npt
    rings = [data[(low <= radius) & (radius < high)] for low, high in itertools.pairwise(edges)]
    return np.array([ring.sum() / len(ring) if len(ring) else np.nan for ring in rings])
