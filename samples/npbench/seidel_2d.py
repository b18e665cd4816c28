"""Gauss-Seidel sweeps: every point becomes the mean of its nine neighbours, four of which the sweep has renewed before.

Along a row the renewed left neighbour makes x[j] = (r[j] + x[j - 1]) / 9: linear maps, whose composition is scanned.
"""

import intent
import intent.language as I

SIZES = {"S": {"TSTEPS": 8, "N": 50}, "M": {"TSTEPS": 15, "N": 100}}
CASES = [{"TSTEPS": 3, "N": 5}, {"TSTEPS": 2, "N": 10}, {"TSTEPS": 2, "N": 3}, {"TSTEPS": 2, "N": 2}]


@intent.fn
def after(first, second):
    return I.record(slope=first.slope * second.slope, offset=second.slope * first.offset + second.offset)


@intent.kernel
def seidel_2d(steps: I.index, n: I.index, a: I.InOut[I.f64, ("N", "N")]):
    columns = I.domain(1, a.shape[1] - 1)
    j = I.indices(columns)
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            above = a[i - 1, j - 1] + a[i - 1, columns] + a[i - 1, j + 1]
            below = a[i + 1, j - 1] + a[i + 1, columns] + a[i + 1, j + 1]
            known = above + a[i, columns] + a[i, j + 1] + below
            maps = I.record(slope=I.full((columns,), 1.0 / 9.0, dtype=I.f64), offset=known / 9.0)
            identity = I.record(slope=I.cast(1.0, I.f64), offset=I.cast(0.0, I.f64))
            prefix = I.scan(maps, axis=0, identity=identity, combine=after, inclusive=True)
            a[i, columns] = prefix.slope * a[i, 0] + prefix.offset


def inputs(rng, case):
    return {"steps": case["TSTEPS"], "n": case["N"], "a": rng.standard_normal((case["N"], case["N"]))}


def reference(steps, n, a):
    for _ in range(steps - 1):
        for i in range(1, n - 1):
            known = a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 1:-1] + a[i, 2:]
            known += a[i + 1, :-2] + a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, n - 1):
                a[i, j] = (known[j - 1] + a[i, j - 1]) / 9.0
