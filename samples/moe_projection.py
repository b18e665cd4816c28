"""Projection of a mixture of experts on tokens in their own order: expert e multiplies the tokens listed for it.

`listed` holds token numbers sorted by expert, `weight` how much each expert's answer counts; the answers of a token's
experts add up in `out`.
"""

import intent
import intent.language as I

CASES = [
    {"T": 9, "K": 19, "N": 37, "E": 3, "P": 4, "R": 18},
    {"T": 16, "K": 16, "N": 16, "E": 4, "P": 5, "R": 32},
    {"T": 1, "K": 1, "N": 1, "E": 1, "P": 2, "R": 1},
    {"T": 3, "K": 4, "N": 5, "E": 2, "P": 3, "R": 0},
    {"T": 2, "K": 0, "N": 5, "E": 2, "P": 3, "R": 4},
]
LARGE = [{"T": 131, "K": 67, "N": 130, "E": 8, "P": 9, "R": 262}]


@intent.kernel
def moe_projection(
    tokens: I.In[I.f16, ("T", "K")],
    experts: I.In[I.f16, ("E", "K", "N")],
    offsets: I.In[I.i32, ("P",)],
    listed: I.In[I.i32, ("R",)],
    weight: I.In[I.f32, ("R",)],
    out: I.InOut[I.f32, ("T", "N")],
):
    E, K, N = experts.shape
    k = I.domain(0, K)
    n = I.domain(0, N)
    rows = I.ragged(I.domain(0, E), I.domain(0, listed.shape[0]), offsets, indices=listed)
    for e in I.parallel(rows.outer):
        row = rows[e]
        token = I.members(row)
        answer = I.matmul(tokens[token, k], experts[e, k, n], acc_dtype=I.f32)
        I.scatter_reduce(out, (token, n), weight[row][:, None] * answer, combine=I.add)


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["R"] + 1, case["E"] - 1))
    offsets = np.array([0, *cuts, case["R"]], dtype=np.int32)
    return {"offsets": offsets, "listed": rng.integers(0, case["T"], case["R"])}


FINITE = ["tokens", "experts"]


def reference(tokens, experts, offsets, listed, weight, out):
    import numpy as np

    expert = np.repeat(np.arange(len(experts)), np.diff(offsets))
    answers = np.einsum("rk,rkn->rn", tokens[listed].astype(np.float64), experts[expert].astype(np.float64))
    total = out.astype(np.float64)
    np.add.at(total, listed, weight[:, None] * answers)
    return total.astype(np.float32)
