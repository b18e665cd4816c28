"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def mandelbrot(
    counts: I.Out[I.i32, ("H", "W")],
    left: I.f64,
    top: I.f64,
    step: I.f64,
    limit: I.i32,
):
    H, W = counts.shape
    for h in I.parallel(I.domain(0, H)):
        for w in I.parallel(I.domain(0, W)):
            count = I.cast(0, I.i32)
            x = I.cast(0.0, I.f64)
            y = I.cast(0.0, I.f64)
            while (I.cast(count, I.index) < I.cast(limit, I.index)) & (x * x + y * y <= 4.0):
                count = count + 1
                value_term = y * y
                value_term_2 = x * x
                next_x = value_term_2 - value_term + (left + I.cast(w, I.f64) * step)
                next_y = 2.0 * x * y + (top + I.cast(h, I.f64) * step)
                x = next_x
                y = next_y
            counts[h, w] = count
