"""Gradient of an embedding table: the gradient of every token is added to the row of its word, padding left out."""

import intent
import intent.language as I

PADDING = 0

CASES = [
    {"T": 11, "D": 19, "V": 5},
    {"T": 16, "D": 32, "V": 8},
    {"T": 1, "D": 1, "V": 1},
    {"T": 0, "D": 3, "V": 2},
    {"T": 3, "D": 0, "V": 2},
]
LARGE = [{"T": 517, "D": 131, "V": 67}]


@intent.kernel
def embedding_backward(
    word: I.In[I.i32, ("T",)],
    gradient: I.In[I.f16, ("T", "D")],
    table: I.InOut[I.f32, ("V", "D")],
):
    T, D = gradient.shape
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        row = word[t]
        if row != PADDING:
            I.atomic.add(table, (row, d), I.cast(gradient[t, d], I.f32), order="relaxed")


def inputs(rng, case):
    return {"word": rng.integers(0, case["V"], case["T"])}


def reference(word, gradient, table):
    import numpy as np

    total = table.astype(np.float64)
    counted = word != PADDING
    np.add.at(total, word[counted], gradient[counted].astype(np.float64))
    return total.astype(np.float32)
