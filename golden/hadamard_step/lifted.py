"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def hadamard_step(
    x: I.In[I.f32, ("M", 64)],
    out: I.Out[I.f32, ("M", 64)],
    stride: I.index,
):
    M = x.shape[0]
    m = I.domain(0, M)
    for group in I.parallel(I.domain(0, 64)):
        x_values = x[m, group]
        x_values_2 = x[m, I.cast(I.cast(group, I.i64) ^ I.cast(stride, I.i64), I.index)]
        out[m, group] = I.select(
            I.cast(I.cast(group, I.i64) & I.cast(stride, I.i64), I.index) == 0,
            x_values + x_values_2,
            x_values_2 - x_values,
        )
