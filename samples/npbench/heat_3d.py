"""Explicit steps of the heat equation on a cube, from one grid to the other and back, TSTEPS - 1 times."""

import intent
import intent.language as I

SIZES = {"S": {"TSTEPS": 25, "N": 25}, "M": {"TSTEPS": 50, "N": 40}}
CASES = [{"TSTEPS": 2, "N": 5}, {"TSTEPS": 2, "N": 6}, {"TSTEPS": 2, "N": 3}, {"TSTEPS": 2, "N": 1}]


@intent.kernel
def step(a: I.In[I.f64, ("N", "N", "N")], b: I.InOut[I.f64, ("N", "N", "N")]):
    N, _, _ = a.shape
    x, y, z = I.domain(1, N - 1), I.domain(1, N - 1), I.domain(1, N - 1)
    i, j, k = I.indices(x), I.indices(y), I.indices(z)
    u = a[x, y, z]
    change = 0.125 * (a[i + 1, y, z] - 2.0 * u + a[i - 1, y, z])
    change += 0.125 * (a[x, j + 1, z] - 2.0 * u + a[x, j - 1, z])
    change += 0.125 * (a[x, y, k + 1] - 2.0 * u + a[x, y, k - 1])
    b[x, y, z] = change + u


def build(context):
    once = context.compile("step", step)

    def heat_3d(steps, a, b):
        for _ in range(1, steps):
            once(a, b)
            once(b, a)

    return heat_3d


def inputs(rng, case):
    a, b = rng.standard_normal((2, case["N"], case["N"], case["N"]))
    return {"steps": case["TSTEPS"], "a": a, "b": b}


def reference(steps, a, b):
    def stepped(u):
        inside = u[1:-1, 1:-1, 1:-1]
        change = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
        return 0.125 * (change + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6.0 * inside) + inside

    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = stepped(a)
        a[1:-1, 1:-1, 1:-1] = stepped(b)
