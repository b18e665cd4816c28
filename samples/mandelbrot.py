"""How many steps every point of a grid takes to leave the circle of radius two under z = z * z + c."""

import intent
import intent.language as I

CASES = [
    {"H": 5, "W": 13, "left": -2.0, "top": -1.1, "step": 0.2, "limit": 30},
    {"H": 4, "W": 16, "left": -1.6, "top": -0.3, "step": 0.15, "limit": 30},
    {"H": 1, "W": 1, "left": 0.3, "top": 0.5, "step": 0.1, "limit": 30},
    {"H": 0, "W": 3, "left": -2.0, "top": -1.0, "step": 0.5, "limit": 30},
]
LARGE = [{"H": 67, "W": 131, "left": -2.0, "top": -1.1, "step": 0.03, "limit": 40}]


@intent.kernel
def mandelbrot(
    left: I.f64,
    top: I.f64,
    step: I.f64,
    limit: I.i32,
    counts: I.Out[I.i32, ("H", "W")],
):
    H, W = counts.shape
    for i, j in I.parallel((I.domain(0, H), I.domain(0, W))):
        real = left + I.cast(j, I.f64) * step
        imaginary = top + I.cast(i, I.f64) * step
        x = I.cast(0.0, I.f64)
        y = I.cast(0.0, I.f64)
        count = I.cast(0, I.i32)
        while count < limit and x * x + y * y <= 4.0:
            x, y = x * x - y * y + real, 2.0 * x * y + imaginary
            count += 1
        counts[i, j] = count


def reference(left, top, step, limit, case):
    import numpy as np

    counts = np.zeros((case["H"], case["W"]), dtype=np.int32)
    for i, j in np.ndindex(counts.shape):
        c = complex(left + j * step, top + i * step)
        z = 0j
        while counts[i, j] < limit and z.real**2 + z.imag**2 <= 4.0:
            z = z * z + c
            counts[i, j] += 1
    return counts
