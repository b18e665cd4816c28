"""When points of a grid leave a circle under z = z * z + c: the step at which they do, counted from one, and the value.

Points that never leave have the step 0 and the value 0. Complex values are pairs of reals.
"""

import intent
import intent.language as I

SIZES = {
    "S": {"xmin": -2.0, "xmax": 0.5, "XN": 200, "ymin": -1.25, "ymax": 1.25, "YN": 200, "maxiter": 40, "horizon": 2.0},
    "M": {"xmin": -2.0, "xmax": 0.5, "XN": 500, "ymin": -1.25, "ymax": 1.25, "YN": 500, "maxiter": 80, "horizon": 2.0},
}
CASES = [
    {"xmin": -2.0, "xmax": 0.5, "XN": 7, "ymin": -1.25, "ymax": 1.25, "YN": 5, "maxiter": 9, "horizon": 2.0},
    {"xmin": -2.0, "xmax": 0.5, "XN": 8, "ymin": -1.25, "ymax": 1.25, "YN": 4, "maxiter": 3, "horizon": 2.0},
    {"xmin": -2.0, "xmax": 0.5, "XN": 2, "ymin": -1.25, "ymax": 1.25, "YN": 2, "maxiter": 1, "horizon": 2.0},
]
REDUCED = {"xmin": -2.0, "xmax": 0.5, "XN": 30, "ymin": -1.25, "ymax": 1.25, "YN": 25, "maxiter": 40, "horizon": 2.0}


@intent.kernel
def escape(
    xmin: I.f64,
    dx: I.f64,
    ymin: I.f64,
    dy: I.f64,
    steps: I.i64,
    horizon: I.f64,
    z: I.Out[I.f64, ("YN", "XN", 2)],
    step: I.Out[I.i64, ("YN", "XN")],
):
    YN, XN = step.shape
    for i, j in I.parallel((I.domain(0, YN), I.domain(0, XN))):
        real = xmin + I.cast(j, I.f64) * dx
        imaginary = ymin + I.cast(i, I.f64) * dy
        x = I.cast(0.0, I.f64)
        y = I.cast(0.0, I.f64)
        n = I.cast(0, I.i64)
        while n < steps and x * x + y * y <= horizon * horizon:
            x, y = x * x - y * y + real, 2.0 * x * y + imaginary
            n += 1
        left = x * x + y * y > horizon * horizon
        z[i, j, 0] = x if left else 0.0
        z[i, j, 1] = y if left else 0.0
        step[i, j] = n if left else 0


def build(context):
    leave = context.compile("escape", escape)

    def mandelbrot2(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
        z = context.empty((yn, xn, 2), I.f64)
        step = context.empty((yn, xn), I.i64)
        leave(xmin, (xmax - xmin) / (xn - 1), ymin, (ymax - ymin) / (yn - 1), maxiter, horizon, z, step)
        return z, step

    return mandelbrot2


def inputs(rng, case):
    return {"xn": case["XN"], "yn": case["YN"]}


def reference(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
    import numpy as np

    c = np.linspace(xmin, xmax, xn) + 1j * np.linspace(ymin, ymax, yn)[:, None]
    step, found = np.zeros(c.shape, dtype=np.int64), np.zeros_like(c)
    where = np.argwhere(np.ones(c.shape, dtype=bool))
    c, z = c.ravel(), np.zeros(c.size, dtype=complex)
    for n in range(1, maxiter + 1):
        z = z * z + c
        left = np.abs(z) > horizon
        step[tuple(where[left].T)], found[tuple(where[left].T)] = n, z[left]
        z, c, where = z[~left], c[~left], where[~left]
    return np.stack([found.real, found.imag], axis=2), step
