"""For every value, how many of the sorted edges are not above it: a binary search per value."""

import intent
import intent.language as I

CASES = [
    {"N": 37, "E": 11},
    {"N": 32, "E": 16},
    {"N": 1, "E": 1},
    {"N": 3, "E": 0},
    {"N": 0, "E": 4},
]
LARGE = [{"N": 5003, "E": 1031}]


@intent.kernel
def searchsorted(
    edges: I.In[I.f32, ("E",)],
    values: I.In[I.f32, ("N",)],
    out: I.Out[I.i64, ("N",)],
):
    for i in I.parallel(I.domain(0, values.shape[0])):
        v = values[i]
        low = I.cast(0, I.index)
        high = I.cast(edges.shape[0], I.index)
        while low < high:
            middle = (low + high) // 2
            if edges[middle] <= v:
                low = middle + 1
            else:
                high = middle
        out[i] = I.cast(low, I.i64)


def inputs(rng, case):
    import numpy as np

    return {"edges": np.sort(rng.standard_normal(case["E"]).astype(np.float32))}


def reference(edges, values):
    import numpy as np

    return np.searchsorted(edges, values, side="right")
