"""Finite differences in time of a two-dimensional electromagnetic field, driven at its upper edge."""

import intent
import intent.language as I

SIZES = {"S": {"TMAX": 20, "NX": 200, "NY": 220}, "M": {"TMAX": 60, "NX": 400, "NY": 450}}
CASES = [{"TMAX": 3, "NX": 11, "NY": 37}, {"TMAX": 2, "NX": 16, "NY": 16}, {"TMAX": 2, "NX": 1, "NY": 1}]


@intent.kernel
def electric(
    t: I.index,
    ex: I.InOut[I.f64, ("NX", "NY")],
    ey: I.InOut[I.f64, ("NX", "NY")],
    hz: I.In[I.f64, ("NX", "NY")],
    source: I.In[I.f64, ("TMAX",)],
):
    NX, NY = hz.shape
    rows = I.domain(0, NX)
    columns = I.domain(0, NY)
    i = I.indices(rows)[:, None]
    j = I.indices(columns)
    above = I.gather(hz, (i - 1, j), valid=i > 0)
    left = I.gather(hz, (i, j - 1), valid=j > 0)
    h = hz[rows, columns]
    ey[rows, columns] = I.select(i > 0, ey[rows, columns] - 0.5 * (h - above), source[t])
    ex[rows, columns] = ex[rows, columns] - I.select(j > 0, 0.5 * (h - left), 0.0)


@intent.kernel
def magnetic(
    ex: I.In[I.f64, ("NX", "NY")],
    ey: I.In[I.f64, ("NX", "NY")],
    hz: I.InOut[I.f64, ("NX", "NY")],
):
    NX, NY = hz.shape
    rows = I.domain(0, NX - 1)
    columns = I.domain(0, NY - 1)
    i = I.indices(rows)
    j = I.indices(columns)
    curl = ex[rows, j + 1] - ex[rows, columns] + ey[i + 1, columns] - ey[rows, columns]
    hz[rows, columns] = hz[rows, columns] - 0.7 * curl


def build(context):
    first = context.compile("electric", electric)
    second = context.compile("magnetic", magnetic)

    def fdtd_2d(steps, ex, ey, hz, source):
        for t in range(steps):
            first(t, ex, ey, hz, source)
            second(ex, ey, hz)

    return fdtd_2d


def inputs(rng, case):
    ex, ey, hz = rng.standard_normal((3, case["NX"], case["NY"]))
    return {"steps": case["TMAX"], "ex": ex, "ey": ey, "hz": hz, "source": rng.standard_normal(case["TMAX"])}


def reference(steps, ex, ey, hz, source):
    for t in range(steps):
        ey[0] = source[t]
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
