"""Euclidean norm of a long vector in two kernels: squares summed per group, then the root of the groups' total."""

import intent
import intent.language as I

CASES = [
    {"N": 103, "G": 5},
    {"N": 64, "G": 4},
    {"N": 1, "G": 1},
    {"N": 3, "G": 8},
    {"N": 0, "G": 2},
    {"G": 0},
]
LARGE = [{"N": 100_003, "G": 77}]


@intent.kernel
def group_squares(
    x: I.In[I.f32, ("N",)],
    partial: I.Out[I.f32, ("G",)],
):
    N = x.shape[0]
    groups = partial.shape[0]
    n = I.domain(0, N)
    size = (N + groups - 1) // groups
    for g in I.parallel(I.domain(0, groups)):
        begin = I.minimum(g * size, N)
        end = I.minimum(begin + size, N)
        v = x[n[begin:end]]
        partial[g] = I.reduce.sum(v * v, axis=0)


@intent.kernel
def root_of_total(
    partial: I.In[I.f32, ("G",)],
    norm: I.Out[I.f32, ()],
):
    g = I.domain(0, partial.shape[0])
    norm[()] = I.sqrt(I.reduce.sum(partial[g], axis=0))


def inputs(rng, case):
    return {"partial": rng.random(case["G"], dtype="float32")}


def group_squares_reference(x, case):
    import numpy as np

    groups = case["G"]
    size = -(-len(x) // groups)
    squares = x.astype(np.float64) ** 2
    return np.array([squares[g * size : (g + 1) * size].sum() for g in range(groups)], dtype=np.float32)


def root_of_total_reference(partial):
    import numpy as np

    return np.sqrt(partial.astype(np.float64).sum()).astype(np.float32)
