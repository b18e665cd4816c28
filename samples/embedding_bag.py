"""Weighted sum of the embeddings of each bag; bag b owns the entries offsets[b] up to offsets[b + 1]."""

import intent
import intent.language as I

CASES = [
    {"B": 5, "P": 6, "E": 23, "D": 19, "V": 7},
    {"B": 4, "P": 5, "E": 32, "D": 16, "V": 8},
    {"B": 1, "P": 2, "E": 1, "D": 1, "V": 1},
    {"B": 2, "P": 3, "E": 0, "D": 3, "V": 2},
    {"B": 0, "P": 1, "E": 0, "D": 3, "V": 2},
]
LARGE = [{"B": 37, "P": 38, "E": 2003, "D": 67, "V": 300}]


@intent.kernel
def embedding_bag(
    table: I.In[I.f32, ("V", "D")],
    entry: I.In[I.i32, ("E",)],
    weight: I.In[I.f32, ("E",)],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("B", "D")],
):
    B, D = out.shape
    d = I.domain(0, D)
    bags = I.ragged(I.domain(0, B), I.domain(0, entry.shape[0]), offsets, indices=entry)
    for b in I.parallel(bags.outer):
        bag = bags[b]
        rows = table[I.members(bag), d]
        out[b, d] = I.reduce.sum(rows * weight[bag][:, None], axis=0)


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["E"] + 1, max(case["B"] - 1, 0)))
    offsets = np.array([0, *cuts, case["E"]][: case["P"]], dtype=np.int32)
    return {"offsets": offsets, "entry": rng.integers(0, case["V"], case["E"])}


def reference(table, entry, weight, offsets):
    import itertools

    import numpy as np

    rows = table[entry].astype(np.float64) * weight[:, None]
    sums = [rows[a:b].sum(axis=0) for a, b in itertools.pairwise(offsets)]
    return np.array(sums, dtype=np.float32).reshape(len(sums), table.shape[1])
