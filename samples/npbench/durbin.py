"""Solve the Toeplitz system of the Yule-Walker equations by Durbin's recursion."""

import intent
import intent.language as I

SIZES = {"S": {"N": 1000}, "M": {"N": 6000}}
CASES = [{"N": 21}, {"N": 16}, {"N": 1}]


@intent.kernel
def durbin(r: I.In[I.f64, ("N",)], y: I.Out[I.f64, ("N",)]):
    N = r.shape[0]
    n = I.domain(0, N)
    i = I.indices(n)
    alpha = -r[0]
    beta = I.cast(1.0, I.f64)
    y[n] = I.select(i == 0, alpha, 0.0)
    for k in range(1, N):
        solved = i < k
        before = y[n]
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + I.reduce.sum(I.gather(r, (k - 1 - i,), valid=solved) * before, axis=0)) / beta
        mirrored = I.gather(y, (k - 1 - i,), valid=solved)
        y[n] = I.select(i == k, alpha, before + alpha * mirrored)


def inputs(rng, case):
    import numpy as np

    return {"r": 0.5 ** np.arange(1, case["N"] + 1) * rng.uniform(0.5, 1.0, case["N"])}


def reference(r):
    import numpy as np

    y = np.empty_like(r)
    alpha, beta, y[0] = -r[0], 1.0, -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + r[:k][::-1] @ y[:k]) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y
