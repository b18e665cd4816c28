"""Gradient of a softmax from its output y: dx = y * (dy - sum(y * dy)); f16 views, f32 arithmetic."""

import intent
import intent.language as I


@intent.kernel
def softmax_backward(
    y: I.In[I.f16, ("M", "N")],
    dy: I.In[I.f16, ("M", "N")],
    dx: I.Out[I.f16, ("M", "N")],
):
    M, N = y.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        value = I.cast(y[row, columns], I.f32)
        gradient = I.cast(dy[row, columns], I.f32)
        projection = I.reduce.sum(value * gradient, axis=0)
        dx[row, columns] = I.cast(value * (gradient - projection), I.f16)


def reference(y, dy):
    import numpy as np

    value, gradient = y.astype(np.float64), dy.astype(np.float64)
    projection = np.sum(value * gradient, axis=1, keepdims=True)
    return (value * (gradient - projection)).astype(np.float16)
