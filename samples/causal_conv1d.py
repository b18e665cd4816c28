"""Depthwise causal convolution over time, four taps per channel, as state-space models put before their scan."""

import intent
import intent.language as I

TAPS = 4

CASES = [
    {"B": 2, "T": 11, "C": 19},
    {"B": 1, "T": 16, "C": 32},
    {"B": 1, "T": 1, "C": 1},
    {"B": 1, "T": 0, "C": 4},
    {"B": 2, "T": 3, "C": 0},
]
LARGE = [{"B": 2, "T": 517, "C": 131}]


@intent.kernel
def causal_conv1d(
    x: I.In[I.f32, ("B", "T", "C")],
    w: I.In[I.f32, ("C", TAPS)],
    bias: I.In[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "T", "C")],
):
    B, T, C = x.shape
    time = I.domain(0, T)
    channels = I.domain(0, C)
    for b in I.parallel(I.domain(0, B)):
        total = I.full((T, C), 0.0, dtype=I.f32)
        for tap in range(TAPS):
            earlier = I.indices(time) + tap - (TAPS - 1)
            v = I.gather(x, (b, earlier, channels), valid=(earlier >= 0)[:, None])
            total = total + v * w[channels, tap]
        out[b, time, channels] = total + bias[channels]


def reference(x, w, bias):
    import numpy as np

    B, T, C = x.shape
    padded = np.zeros((B, T + TAPS - 1, C))
    padded[:, TAPS - 1 :] = x
    total = sum(padded[:, tap : tap + T] * w[:, tap] for tap in range(TAPS))
    return (total + bias).astype(np.float32)
