"""When points of a grid leave a circle under z = z * z + c: the last step within it, and the first value outside.

Points that never leave have the step 0, and the value after the last step. Complex values are pairs of reals.
"""

import intent
import intent.language as I

SIZES = {
    "S": {"xmin": -1.75, "xmax": 0.25, "XN": 125, "ymin": -1.0, "ymax": 1.0, "YN": 125, "maxiter": 60, "horizon": 2.0},
    "M": {"xmin": -1.75, "xmax": 0.25, "XN": 250, "ymin": -1.0, "ymax": 1.0, "YN": 250, "maxiter": 150, "horizon": 2.0},
}
CASES = [
    {"xmin": -1.75, "xmax": 0.25, "XN": 7, "ymin": -1.0, "ymax": 1.0, "YN": 5, "maxiter": 9, "horizon": 2.0},
    {"xmin": -1.75, "xmax": 0.25, "XN": 8, "ymin": -1.0, "ymax": 1.0, "YN": 4, "maxiter": 3, "horizon": 2.0},
    {"xmin": -1.75, "xmax": 0.25, "XN": 2, "ymin": -1.0, "ymax": 1.0, "YN": 2, "maxiter": 1, "horizon": 2.0},
]
REDUCED = {"xmin": -1.75, "xmax": 0.25, "XN": 30, "ymin": -1.0, "ymax": 1.0, "YN": 25, "maxiter": 60, "horizon": 2.0}


@intent.kernel
def escape(
    xmin: I.f64,
    dx: I.f64,
    ymin: I.f64,
    dy: I.f64,
    steps: I.i64,
    horizon: I.f64,
    z: I.Out[I.f64, ("YN", "XN", 2)],
    last: I.Out[I.i64, ("YN", "XN")],
):
    YN, XN = last.shape
    for i, j in I.parallel((I.domain(0, YN), I.domain(0, XN))):
        real = xmin + I.cast(j, I.f64) * dx
        imaginary = ymin + I.cast(i, I.f64) * dy
        x = I.cast(0.0, I.f64)
        y = I.cast(0.0, I.f64)
        n = I.cast(0, I.i64)
        while n < steps and x * x + y * y < horizon * horizon:
            x, y = x * x - y * y + real, 2.0 * x * y + imaginary
            n += 1
        inside = x * x + y * y < horizon * horizon
        z[i, j, 0] = x
        z[i, j, 1] = y
        last[i, j] = 0 if inside else n - 1


def build(context):
    leave = context.compile("escape", escape)

    def mandelbrot1(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
        z = context.empty((yn, xn, 2), I.f64)
        last = context.empty((yn, xn), I.i64)
        leave(xmin, (xmax - xmin) / (xn - 1), ymin, (ymax - ymin) / (yn - 1), maxiter, horizon, z, last)
        return z, last

    return mandelbrot1


def inputs(rng, case):
    return {"xn": case["XN"], "yn": case["YN"]}


def reference(xmin, xmax, ymin, ymax, xn, yn, maxiter, horizon):
    import numpy as np

    c = np.linspace(xmin, xmax, xn) + 1j * np.linspace(ymin, ymax, yn)[:, None]
    z, last = np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)
    for n in range(maxiter):
        inside = np.abs(z) < horizon
        last[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    last[np.abs(z) < horizon] = 0
    return np.stack([z.real, z.imag], axis=2), last
