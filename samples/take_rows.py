"""out[t, :] = table[index[t], :] where the index is a row of the table, `missing` elsewhere."""

import intent
import intent.language as I

CASES = [
    {"T": 9, "V": 5, "D": 37},
    {"T": 8, "V": 8, "D": 32},
    {"T": 1, "V": 1, "D": 1},
    {"T": 4, "V": 0, "D": 6},
    {"T": 0, "V": 3, "D": 6},
]
LARGE = [{"T": 131, "V": 101, "D": 1031}]


@intent.kernel
def take_rows(
    table: I.In[I.f32, ("V", "D")],
    index: I.In[I.i32, ("T",)],
    missing: I.f32,
    out: I.Out[I.f32, ("T", "D")],
):
    V, D = table.shape
    t = I.domain(0, index.shape[0])
    d = I.domain(0, D)
    row = I.cast(index[t], I.index)
    known = (row >= 0) & (row < V)
    out[t, d] = I.gather(table, (row, d), valid=known[:, None], fill=missing)


def inputs(rng, case):
    return {"index": rng.integers(-2, case["V"] + 2, case["T"], dtype="int32")}


def reference(table, index, missing):
    import numpy as np

    out = np.full((len(index), table.shape[1]), missing, dtype=np.float32)
    known = (index >= 0) & (index < table.shape[0])
    out[known] = table[index[known]]
    return out
