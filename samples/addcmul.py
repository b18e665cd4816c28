"""out = x + value * a * b, the broadcast form: one a per row, one b per column."""

import intent
import intent.language as I


@intent.kernel
def addcmul(
    x: I.In[I.f32, ("M", "N")],
    a: I.In[I.f32, ("M", 1)],
    b: I.In[I.f32, (1, "N")],
    value: I.f32,
    out: I.Out[I.f32, ("M", "N")],
):
    out[:, :] = x[:, :] + value * a[:, :] * b[:, :]


def reference(x, a, b, value):
    return x + value * a * b
