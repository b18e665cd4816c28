"""Solve l @ x = b for many right-hand sides by forward substitution; b is overwritten by x."""

import intent
import intent.language as I


@intent.kernel
def triangular_solve(
    lower: I.In[I.f64, ("N", "N")],
    x: I.InOut[I.f64, ("N", "R")],
):
    N, R = x.shape
    for r in I.parallel(I.domain(0, R)):
        for i in range(N):
            rest = x[i, r]
            for k in range(i):
                rest = rest - lower[i, k] * x[k, r]
            x[i, r] = rest / lower[i, i]


def inputs(rng, case):
    import numpy as np

    lower = rng.standard_normal((case["N"], case["N"])) / max(case["N"], 1)
    return {"lower": lower + 2.0 * np.eye(case["N"])}


def reference(lower, x):
    import numpy as np

    return np.linalg.solve(np.tril(lower), x) if x.size else x
