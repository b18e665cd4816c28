"""The famous approximation of 1 / sqrt(x): a shift of the bit pattern, then two Newton steps."""

import intent
import intent.language as I

MAGIC = 0x5F3759DF


@intent.kernel
def fast_inverse_sqrt(
    x: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("N",)],
):
    n = I.domain(0, x.shape[0])
    v = x[n]
    y = I.bitcast(MAGIC - (I.bitcast(v, I.i32) >> 1), I.f32)
    y = y * (1.5 - 0.5 * v * y * y)
    out[n] = y * (1.5 - 0.5 * v * y * y)


def inputs(rng, case):
    import numpy as np

    return {"x": np.exp(rng.uniform(-8.0, 8.0, case["N"])).astype(np.float32)}


def reference(x):
    import numpy as np

    y = (np.int32(MAGIC) - (x.view(np.int32) >> 1)).view(np.float32)
    for _ in range(2):
        y = y * (np.float32(1.5) - np.float32(0.5) * x * y * y)
    return y
