"""Rows sorted by group, each multiplied by the matrix of its group: the projection of a mixture of experts.

Group g owns the rows offsets[g] up to offsets[g + 1]; a group may be empty.
"""

import intent
import intent.language as I

CASES = [
    {"R": 23, "K": 19, "N": 37, "G": 5, "P": 6},
    {"R": 32, "K": 16, "N": 32, "G": 2, "P": 3},
    {"R": 1, "K": 1, "N": 1, "G": 1, "P": 2},
    {"R": 0, "K": 3, "N": 5, "G": 2, "P": 3},
    {"R": 4, "K": 0, "N": 5, "G": 2, "P": 3},
]
LARGE = [{"R": 517, "K": 131, "N": 259, "G": 9, "P": 10}]


@intent.kernel
def grouped_gemm(
    x: I.In[I.f16, ("R", "K")],
    weight: I.In[I.f16, ("G", "K", "N")],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f16, ("R", "N")],
):
    R, K = x.shape
    G, _, N = weight.shape
    k = I.domain(0, K)
    n = I.domain(0, N)
    rows = I.ragged(I.domain(0, G), I.domain(0, R), offsets)
    for g in I.parallel(rows.outer):
        m = rows[g]
        out[m, n] = I.cast(I.matmul(x[m, k], weight[g, k, n], acc_dtype=I.f32), I.f16)


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["R"] + 1, case["G"] - 1))
    return {"offsets": np.array([0, *cuts, case["R"]], dtype=np.int32)}


FINITE = ["x", "weight"]


def reference(x, weight, offsets):
    import numpy as np

    group = np.repeat(np.arange(len(weight)), np.diff(offsets))
    return np.einsum("rk,rkn->rn", x.astype(np.float64), weight[group].astype(np.float64)).astype(np.float16)
