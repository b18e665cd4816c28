"""Logits of words that were generated before are made smaller, in place: divided if positive, multiplied if negative.

A word counts once however often it was generated: the first occurrence does the work. `length` is how far a row's
history reaches.
"""

import intent
import intent.language as I

CASES = [
    {"M": 3, "V": 19, "L": 7, "penalty": 1.5},
    {"M": 2, "V": 32, "L": 8, "penalty": 2.0},
    {"M": 1, "V": 1, "L": 1, "penalty": 1.25},
    {"M": 2, "V": 3, "L": 0, "penalty": 1.5},
    {"M": 0, "V": 3, "L": 2, "penalty": 1.5},
]
LARGE = [{"M": 37, "V": 517, "L": 67, "penalty": 1.5}]


@intent.kernel
def repetition_penalty(
    logits: I.InOut[I.f32, ("M", "V")],
    history: I.In[I.i32, ("M", "L")],
    length: I.In[I.i32, ("M",)],
    penalty: I.f32,
):
    M, L = history.shape
    for m, i in I.parallel((I.domain(0, M), I.domain(0, L))):
        word = history[m, i]
        first = i < I.cast(length[m], I.index)
        for j in range(i):
            first = first and history[m, j] != word
        if first:
            v = logits[m, word]
            logits[m, word] = v / penalty if v > 0.0 else v * penalty


def inputs(rng, case):
    history = rng.integers(0, case["V"], (case["M"], case["L"]))
    return {"history": history, "length": rng.integers(0, case["L"] + 1, case["M"])}


def reference(logits, history, length, penalty):
    import numpy as np

    for m, count in enumerate(length):
        words = np.unique(history[m, :count])
        v = logits[m, words]
        logits[m, words] = np.where(v > 0, v / penalty, v * penalty)
    return logits
