"""Token rows of a table plus position rows of another: out[t, :] = table[tokens[t], :] + positions[t, :], bf16."""

import intent
import intent.language as I

CASES = [
    {"T": 7, "V": 13, "D": 37},
    {"T": 8, "V": 8, "D": 64},
    {"T": 1, "V": 1, "D": 1},
    {"T": 0, "V": 3, "D": 5},
    {"T": 3, "V": 3, "D": 0},
]
LARGE = [{"T": 131, "V": 517, "D": 1031}]


@intent.kernel
def embedding(
    tokens: I.In[I.i64, ("T",)],
    table: I.In[I.bf16, ("V", "D")],
    positions: I.In[I.bf16, ("T", "D")],
    out: I.Out[I.bf16, ("T", "D")],
):
    T = tokens.shape[0]
    d = I.domain(0, table.shape[1])
    for t in I.parallel(I.domain(0, T)):
        out[t, d] = table[I.cast(tokens[t], I.index), d] + positions[t, d]


def inputs(rng, case):
    return {"tokens": rng.integers(0, case["V"], case["T"])}


def reference(tokens, table, positions):
    return table[tokens] + positions
