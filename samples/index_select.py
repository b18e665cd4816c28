"""out[:, j] = x[:, index[j]]: chosen slices of the middle axis; a negative index counts from the end."""

import intent
import intent.language as I

CASES = [
    {"A": 3, "K": 7, "B": 19, "J": 5},
    {"A": 4, "K": 8, "B": 16, "J": 8},
    {"A": 1, "K": 1, "B": 1, "J": 1},
    {"A": 2, "K": 3, "B": 5, "J": 0},
    {"A": 0, "K": 3, "B": 5, "J": 2},
]
LARGE = [{"A": 7, "K": 131, "B": 61, "J": 37}]


@intent.kernel
def index_select(
    x: I.In[I.f16, ("A", "K", "B")],
    index: I.In[I.i64, ("J",)],
    out: I.Out[I.f16, ("A", "J", "B")],
):
    A, K, B = x.shape
    a = I.domain(0, A)
    b = I.domain(0, B)
    for j in I.parallel(I.domain(0, index.shape[0])):
        given = I.cast(index[j], I.index)
        out[a, j, b] = x[a, given if given >= 0 else given + K, b]


def inputs(rng, case):
    return {"index": rng.integers(-case["K"], case["K"], case["J"])}


def reference(x, index):
    return x[:, index]
