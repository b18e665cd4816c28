"""Levenshtein distance of many pairs of words of one length each, one row of the table kept in a local buffer."""

import intent
import intent.language as I

CASES = [
    {"B": 5, "P": 4, "Q": 6},
    {"B": 4, "P": 8, "Q": 8},
    {"B": 1, "P": 1, "Q": 1},
    {"B": 2, "P": 0, "Q": 3},
    {"B": 0, "P": 3, "Q": 3},
]
LARGE = [{"B": 131, "P": 17, "Q": 23}]


@intent.kernel
def edit_distance(
    left: I.In[I.i32, ("B", "P")],
    right: I.In[I.i32, ("B", "Q")],
    distance: I.Out[I.i32, ("B",)],
):
    B, P = left.shape
    Q = right.shape[1]
    for b in I.parallel(I.domain(0, B)):
        row = I.buffer((Q + 1,), I.i32)
        for j in range(Q + 1):
            row[j] = I.cast(j, I.i32)
        for i in range(P):
            diagonal = row[0]
            row[0] = diagonal + 1
            for j in range(Q):
                above = row[j + 1]
                cost = 0 if left[b, i] == right[b, j] else 1
                replaced = diagonal + I.cast(cost, I.i32)
                row[j + 1] = I.minimum(replaced, I.minimum(above, row[j]) + 1)
                diagonal = above
        distance[b] = row[Q]


def inputs(rng, case):
    return {
        "left": rng.integers(0, 3, (case["B"], case["P"]), dtype="int32"),
        "right": rng.integers(0, 3, (case["B"], case["Q"]), dtype="int32"),
    }


def reference(left, right):
    import numpy as np

    B, P = left.shape
    Q = right.shape[1]
    distance = np.zeros(B, dtype=np.int32)
    for b in range(B):
        row = list(range(Q + 1))
        for i in range(P):
            above = row
            row = [i + 1]
            for j in range(Q):
                cost = int(left[b, i] != right[b, j])
                row.append(min(above[j] + cost, above[j + 1] + 1, row[j] + 1))
        distance[b] = row[Q]
    return distance
