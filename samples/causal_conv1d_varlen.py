"""Depthwise causal convolution of packed sequences: a tap never reaches into the sequence before."""

import intent
import intent.language as I

TAPS = 3

CASES = [
    {"S": 4, "P": 5, "T": 23, "C": 19},
    {"S": 2, "P": 3, "T": 16, "C": 32},
    {"S": 1, "P": 2, "T": 1, "C": 1},
    {"S": 2, "P": 3, "T": 0, "C": 4},
    {"S": 2, "P": 3, "T": 5, "C": 0},
]
LARGE = [{"S": 13, "P": 14, "T": 517, "C": 131}]


@intent.kernel
def causal_conv1d_varlen(
    x: I.In[I.f32, ("T", "C")],
    weight: I.In[I.f32, ("C", TAPS)],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("T", "C")],
):
    T, C = x.shape
    channels = I.domain(0, C)
    sequences = I.ragged(I.domain(0, offsets.shape[0] - 1), I.domain(0, T), offsets)
    for s in I.parallel(sequences.outer):
        rows = sequences[s]
        total = I.zeros((rows, C), I.f32)
        for tap in range(TAPS):
            earlier = I.indices(rows) + tap - (TAPS - 1)
            valid = earlier >= I.cast(offsets[s], I.index)
            total = total + I.gather(x, (earlier, channels), valid=valid[:, None]) * weight[channels, tap]
        out[rows, channels] = total


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["T"] + 1, case["S"] - 1))
    return {"offsets": np.array([0, *cuts, case["T"]], dtype=np.int32)}


def reference(x, weight, offsets):
    import itertools

    import numpy as np

    out = np.zeros(x.shape, np.float32)
    for first, last in itertools.pairwise(offsets):
        padded = np.concatenate([np.zeros((TAPS - 1, x.shape[1])), x[first:last]])
        out[first:last] = sum(padded[tap : tap + last - first] * weight[:, tap] for tap in range(TAPS))
    return out
