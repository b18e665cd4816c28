"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def residual_dropout(
    x: I.In[I.f32, ("M", "N")],
    residual: I.In[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
    p: I.f32,
    seed: I.u64,
):
    M, N = x.shape
    for m in I.parallel(I.domain(0, M)):
        for n in I.parallel(I.domain(0, N)):
            out[m, n] = residual[m, n] + I.select(
                I.cast(I.random.bits(seed, N * m + n) >> 8, I.f32) * 5.9604645e-08 >= p, x[m, n] / (1.0 - p), 0.0
            )


@intent.kernel
def residual_dropout_backward(
    dy: I.In[I.f32, ("M", "N")],
    dx: I.Out[I.f32, ("M", "N")],
    p: I.f32,
    seed: I.u64,
):
    M, N = dy.shape
    for m in I.parallel(I.domain(0, M)):
        for n in I.parallel(I.domain(0, N)):
            dx[m, n] = I.select(
                I.cast(I.random.bits(seed, N * m + n) >> 8, I.f32) * 5.9604645e-08 >= p, dy[m, n] / (1.0 - p), 0.0
            )
