"""y[index[i]] += scale[i] * x[i] for every row i; rows that share a destination add up."""

import intent
import intent.language as I

CASES = [
    {"R": 11, "D": 19, "S": 5},
    {"R": 16, "D": 32, "S": 4},
    {"R": 1, "D": 1, "S": 1},
    {"R": 0, "D": 3, "S": 2},
    {"R": 3, "D": 0, "S": 2},
]
LARGE = [{"R": 517, "D": 131, "S": 67}]


@intent.kernel
def scaled_index_add(
    x: I.In[I.f32, ("R", "D")],
    index: I.In[I.i32, ("R",)],
    scale: I.In[I.f32, ("R",)],
    y: I.InOut[I.f32, ("S", "D")],
):
    R, D = x.shape
    d = I.domain(0, D)
    for i in I.parallel(I.domain(0, R)):
        destination = I.cast(index[i], I.index)
        I.scatter_reduce(y, (destination, d), scale[i] * x[i, d], combine=I.add)


def inputs(rng, case):
    return {"index": rng.integers(0, case["S"], case["R"])}


def reference(x, index, scale, y):
    import numpy as np

    total = y.astype(np.float64)
    np.add.at(total, index, scale[:, None].astype(np.float64) * x)
    return total.astype(np.float32)
