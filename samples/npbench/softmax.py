"""Softmax along the last axis of [N, H, SM, SM], the scores of an attention."""

import intent
import intent.language as I

SIZES = {"S": {"N": 16, "H": 16, "SM": 128}, "M": {"N": 32, "H": 8, "SM": 256}}
CASES = [{"N": 1, "H": 2, "SM": 3}, {"N": 1, "H": 1, "SM": 8}, {"N": 1, "H": 1, "SM": 1}, {"N": 0, "H": 2, "SM": 3}]
REDUCED = {"N": 16, "H": 4, "SM": 128}


@intent.kernel
def softmax(x: I.In[I.f32, ("N", "H", "SM", "SM")], out: I.Out[I.f32, ("N", "H", "SM", "SM")]):
    N, H, rows, _ = x.shape
    for n, h, i in I.parallel((I.domain(0, N), I.domain(0, H), I.domain(0, rows))):
        row = x[n, h, i, :]
        weight = I.exp(row - I.reduce.max(row, axis=0))
        out[n, h, i, :] = weight / I.reduce.sum(weight, axis=0)


def inputs(rng, case):
    shape = (case["N"], case["H"], case["SM"], case["SM"])
    return {"x": rng.random(shape, dtype="float32")}


def reference(x):
    import numpy as np

    weight = np.exp(x - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return weight / weight.sum(axis=-1, keepdims=True)
