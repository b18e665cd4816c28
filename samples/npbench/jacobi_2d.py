"""Means of a point and its four neighbours, from one grid to the other and back, TSTEPS - 1 times; the border stays."""

import intent
import intent.language as I

SIZES = {"S": {"TSTEPS": 50, "N": 150}, "M": {"TSTEPS": 80, "N": 350}}
CASES = [{"TSTEPS": 3, "N": 21}, {"TSTEPS": 2, "N": 18}, {"TSTEPS": 2, "N": 3}, {"TSTEPS": 2, "N": 1}]


@intent.kernel
def step(a: I.In[I.f64, ("N", "N")], b: I.InOut[I.f64, ("N", "N")]):
    rows = I.domain(1, a.shape[0] - 1)
    columns = I.domain(1, a.shape[1] - 1)
    i = I.indices(rows)
    j = I.indices(columns)
    beside = a[rows, j - 1] + a[rows, j + 1]
    b[rows, columns] = 0.2 * (a[rows, columns] + beside + a[i + 1, columns] + a[i - 1, columns])


def build(context):
    once = context.compile("step", step)

    def jacobi_2d(steps, a, b):
        for _ in range(1, steps):
            once(a, b)
            once(b, a)

    return jacobi_2d


def inputs(rng, case):
    a, b = rng.standard_normal((2, case["N"], case["N"]))
    return {"steps": case["TSTEPS"], "a": a, "b": b}


def reference(steps, a, b):
    for _ in range(1, steps):
        for x, y in ((a, b), (b, a)):
            y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1])
