"""Softmax of long rows by a fold: one sweep finds the largest element and the mass, a second writes."""

import intent
import intent.language as I

LARGE = [{"M": 5, "N": 50021}]


@intent.fn
def summarize(x):
    largest = I.reduce.max(x, axis=0)
    shift = I.select(largest == -I.inf, 0.0, largest)
    return I.record(largest=largest, mass=I.reduce.sum(I.exp(x - shift), axis=0))


@intent.fn
def merge(lhs, rhs):
    largest = I.maximum(lhs.largest, rhs.largest)
    shift = I.select(largest == -I.inf, 0.0, largest)
    return I.record(largest=largest, mass=lhs.mass * I.exp(lhs.largest - shift) + rhs.mass * I.exp(rhs.largest - shift))


@intent.kernel
def online_softmax(x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        found = I.region_fold(
            source=x[row, columns],
            axis=0,
            summarize=summarize,
            combine=merge,
            identity=I.record(largest=I.cast(-I.inf, I.f32), mass=I.cast(0.0, I.f32)),
        )
        out[row, columns] = I.exp(x[row, columns] - found.largest) / found.mass


def reference(x):
    import numpy as np

    v = x.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        weights = np.exp(v - np.max(v, axis=1, keepdims=True, initial=-np.inf))
        return (weights / np.sum(weights, axis=1, keepdims=True)).astype(np.float32)
