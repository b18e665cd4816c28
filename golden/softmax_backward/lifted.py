"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def softmax_backward(
    y: I.In[I.f16, ("M", "N")],
    dy: I.In[I.f16, ("M", "N")],
    dx: I.Out[I.f16, ("M", "N")],
):
    M, N = y.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        dy_f32 = I.cast(dy[m, n], I.f32)
        y_f32 = I.cast(y[m, n], I.f32)
        dy_sum = I.reduce.sum(y_f32 * dy_f32, axis=0)
        dx[m, n] = I.cast(y_f32 * (dy_f32 - dy_sum), I.f16)
