"""y = a * x + y for two vectors, in place."""

import intent
import intent.language as I


@intent.kernel
def saxpy(
    a: I.f32,
    x: I.In[I.f32, ("N",)],
    y: I.InOut[I.f32, ("N",)],
):
    n = I.domain(0, x.shape[0])
    y[n] = a * x[n] + y[n]


def reference(a, x, y):
    return a * x + y
