"""Pointwise product of two signals stored as interleaved (real, imaginary) f32, from every other element of a row."""

import intent
import intent.language as I

CASES = [
    {"M": 3, "N": 38},
    {"M": 4, "N": 32},
    {"M": 1, "N": 2},
    {"M": 2, "N": 0},
    {"M": 0, "N": 4},
]
LARGE = [{"M": 131, "N": 1030}]


@intent.fn
def multiply(a, b):
    return I.record(
        real=a.real * b.real - a.imaginary * b.imaginary, imaginary=a.real * b.imaginary + a.imaginary * b.real
    )


@intent.kernel
def split_complex(
    x: I.In[I.f32, ("M", "N")],
    y: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    even = I.domain(0, N, 2)
    for row in I.parallel(I.domain(0, M)):
        a = I.record(real=x[row, even], imaginary=x[row, I.indices(even) + 1])
        b = I.record(real=y[row, even], imaginary=y[row, I.indices(even) + 1])
        product = multiply(a, b)
        out[row, even] = product.real
        out[row, I.indices(even) + 1] = product.imaginary


def reference(x, y):
    import numpy as np

    product = x.view(np.complex64) * y.view(np.complex64)
    return product.view(np.float32)
