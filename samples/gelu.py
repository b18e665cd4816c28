"""The tanh form of GELU and its derivative, both of one read of x."""

import intent
import intent.language as I

SQRT_2_OVER_PI = 0.7978845608028654
CUBIC = 0.044715


@intent.kernel
def gelu(
    x: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("N",)],
    slope: I.Out[I.f32, ("N",)],
):
    v = x[:]
    inner = SQRT_2_OVER_PI * (v + CUBIC * v * v * v)
    t = I.tanh(inner)
    out[:] = 0.5 * v * (1.0 + t)
    slope[:] = 0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * SQRT_2_OVER_PI * (1.0 + 3.0 * CUBIC * v * v)


def reference(x):
    import numpy as np

    v = x.astype(np.float64)
    t = np.tanh(SQRT_2_OVER_PI * (v + CUBIC * v**3))
    slope = 0.5 * (1.0 + t) + 0.5 * v * (1.0 - t * t) * SQRT_2_OVER_PI * (1.0 + 3.0 * CUBIC * v * v)
    return (0.5 * v * (1.0 + t)).astype(np.float32), slope.astype(np.float32)
