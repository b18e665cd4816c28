"""Which rows of a matrix hold a NaN, and which are finite throughout."""

import intent
import intent.language as I


@intent.kernel
def valid_rows(
    x: I.In[I.f32, ("M", "N")],
    has_nan: I.Out[I.bool, ("M",)],
    all_finite: I.Out[I.bool, ("M",)],
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    v = x[m, n]
    has_nan[m] = I.reduce.any(v != v, axis=1)
    all_finite[m] = I.reduce.all(I.abs(v) < I.inf, axis=1)


def inputs(rng, case):
    import numpy as np

    x = rng.standard_normal((case["M"], case["N"])).astype(np.float32)
    x[rng.random(x.shape) < 0.03] = np.nan
    x[rng.random(x.shape) < 0.03] = np.inf
    return {"x": x}


def reference(x):
    import numpy as np

    return np.isnan(x).any(axis=1), np.isfinite(x).all(axis=1)
