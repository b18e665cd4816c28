"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def hadamard_step(
    x: I.In[I.f32, ("M", "BLOCK_COLUMNS")],
    out: I.Out[I.f32, ("M", "BLOCK_COLUMNS")],
    stride: I.index,
):
    M, BLOCK_COLUMNS = x.shape
    m = I.domain(0, M)
    for block_column in I.parallel(I.domain(0, BLOCK_COLUMNS)):
        x_values = x[m, block_column]
        x_values_2 = x[m, I.cast(I.cast(block_column, I.i64) ^ I.cast(stride, I.i64), I.index)]
        out[m, block_column] = (
            I.select(I.cast(I.cast(block_column, I.i64) & I.cast(stride, I.i64), I.index) == 0, x_values + x_values_2, x_values_2 - x_values)
        )
