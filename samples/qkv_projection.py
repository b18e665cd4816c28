"""One read of the hidden states, three results: queries, and the fewer keys and values of grouped-query attention."""

import intent
import intent.language as I

CASES = [
    {"T": 5, "D": 19, "Q": 37, "C": 11},
    {"T": 16, "D": 16, "Q": 32, "C": 16},
    {"T": 1, "D": 1, "Q": 1, "C": 1},
    {"T": 0, "D": 4, "Q": 5, "C": 3},
    {"T": 3, "D": 0, "Q": 4, "C": 2},
]
LARGE = [{"T": 131, "D": 67, "Q": 256, "C": 64}]


@intent.kernel
def qkv_projection(
    x: I.In[I.bf16, ("T", "D")],
    query_weight: I.In[I.bf16, ("D", "Q")],
    key_weight: I.In[I.bf16, ("D", "C")],
    value_weight: I.In[I.bf16, ("D", "C")],
    query: I.Out[I.bf16, ("T", "Q")],
    key: I.Out[I.bf16, ("T", "C")],
    value: I.Out[I.bf16, ("T", "C")],
):
    hidden = x[:, :]
    query[:, :] = I.cast(I.matmul(hidden, query_weight[:, :], acc_dtype=I.f32), I.bf16)
    key[:, :] = I.cast(I.matmul(hidden, key_weight[:, :], acc_dtype=I.f32), I.bf16)
    value[:, :] = I.cast(I.matmul(hidden, value_weight[:, :], acc_dtype=I.f32), I.bf16)


FINITE = ["x", "query_weight", "key_weight", "value_weight"]


def reference(x, query_weight, key_weight, value_weight):
    import numpy as np

    weights = (query_weight, key_weight, value_weight)
    return tuple((x.astype(np.float64) @ w.astype(np.float64)).astype(x.dtype) for w in weights)
