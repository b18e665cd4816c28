"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def quantize_rows(
    x: I.In[I.f32, ("M", "N")],
    quantized: I.Out[I.i8, ("M", "N")],
    scale: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        x_values = x[m, n]
        x_max = I.reduce.max(I.abs(x_values), axis=0)
        x_term = I.maximum(x_max, 1e-08) / 127.0
        x_term_2 = x_values / x_term + 0.5
        quantized[m, n] = I.cast(
            I.minimum(
                I.maximum(I.select((x_term_2 < 0.0) & (x_term_2 > -1.0), -1.0, I.floor(x_term_2)), -127.0), 127.0
            ),
            I.i8,
        )
        scale[m] = x_term
