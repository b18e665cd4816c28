"""clip(x, 2, 10) * a + y * b + c for two matrices of integers."""

import intent
import intent.language as I

SIZES = {"S": {"M": 2000, "N": 2000}, "M": {"M": 5000, "N": 5000}}
CASES = [{"M": 5, "N": 37}, {"M": 4, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}]


@intent.kernel
def compute(
    x: I.In[I.i64, ("M", "N")],
    y: I.In[I.i64, ("M", "N")],
    a: I.i64,
    b: I.i64,
    c: I.i64,
    out: I.Out[I.i64, ("M", "N")],
):
    out[:, :] = I.minimum(I.maximum(x[:, :], 2), 10) * a + y[:, :] * b + c


def inputs(rng, case):
    x, y = rng.integers(0, 1000, (2, case["M"], case["N"]))
    return {"x": x, "y": y, "a": 4, "b": 3, "c": 9}


def reference(x, y, a, b, c):
    import numpy as np

    return np.clip(x, 2, 10) * a + y * b + c
