"""Symmetric i8 quantisation with one scale per row: values are rounded half up and clamped to [-127, 127]."""

import intent
import intent.language as I

TOP = 127.0

FINITE = ("x",)


@intent.kernel
def quantize_rows(
    x: I.In[I.f32, ("M", "N")],
    quantized: I.Out[I.i8, ("M", "N")],
    scale: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        step = I.maximum(I.reduce.max(I.abs(v), axis=0), 1.0e-8) / TOP
        rounded = I.floor(v / step + 0.5)
        clamped = I.minimum(I.maximum(rounded, -TOP), TOP)
        quantized[row, columns] = I.cast(clamped, I.i8)
        scale[row] = step


def reference(x):
    import numpy as np

    largest = np.max(np.abs(x), axis=1, initial=0.0)
    step = np.maximum(largest, np.float32(1.0e-8)) / np.float32(TOP)
    rounded = np.floor(x / step[:, None] + np.float32(0.5))
    return np.clip(rounded, -TOP, TOP).astype(np.int8), step
