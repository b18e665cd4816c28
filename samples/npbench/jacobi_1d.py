"""Means of three neighbours, from one array to the other and back, TSTEPS - 1 times; the ends stay.

All steps are one launch: the arrays are so short that one program sees them through faster than it could be launched.
"""

import intent
import intent.language as I

SIZES = {"S": {"TSTEPS": 800, "N": 3200}, "M": {"TSTEPS": 3000, "N": 12000}}
CASES = [{"TSTEPS": 4, "N": 37}, {"TSTEPS": 3, "N": 16}, {"TSTEPS": 2, "N": 2}, {"TSTEPS": 1, "N": 5}]


@intent.fn
def means(x):
    n = I.indices(I.domain(1, x.shape[0] - 1))
    return 0.33333 * (x[n - 1] + x[n] + x[n + 1])


@intent.kernel
def jacobi_1d(steps: I.index, a: I.InOut[I.f64, ("N",)], b: I.InOut[I.f64, ("N",)]):
    inner = I.domain(1, a.shape[0] - 1)
    for _ in range(steps - 1):
        b[inner] = means(a)
        a[inner] = means(b)


def inputs(rng, case):
    a, b = rng.standard_normal((2, case["N"]))
    return {"steps": case["TSTEPS"], "a": a, "b": b}


def reference(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
