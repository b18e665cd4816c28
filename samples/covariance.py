"""Covariance matrix of the columns of a data matrix: centre the columns, then contract over the samples."""

import intent
import intent.language as I

CASES = [
    {"N": 37, "F": 19},
    {"N": 32, "F": 16},
    {"N": 2, "F": 1},
    {"N": 5, "F": 0},
]
LARGE = [{"N": 517, "F": 131}]


@intent.kernel
def covariance(
    x: I.In[I.f32, ("N", "F")],
    out: I.Out[I.f32, ("F", "F")],
):
    N, F = x.shape
    samples = I.domain(0, N)
    features = I.domain(0, F)
    v = x[samples, features]
    centred = v - I.reduce.sum(v, axis=0) / I.cast(N, I.f32)
    product = I.contract(centred, centred, reduce=((0, 0),), acc_dtype=I.f32)
    out[features, features] = product / I.cast(N - 1, I.f32)


def reference(x):
    import numpy as np

    v = x.astype(np.float64)
    centred = v - np.sum(v, axis=0) / x.shape[0]
    return (centred.T @ centred / (x.shape[0] - 1)).astype(np.float32)
