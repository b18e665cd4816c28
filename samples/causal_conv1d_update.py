"""One decoding step of a depthwise causal convolution: a channel's state, its last inputs, moves on by one."""

import intent
import intent.language as I

TAPS = 4

CASES = [
    {"B": 3, "C": 37},
    {"B": 4, "C": 32},
    {"B": 1, "C": 1},
    {"B": 0, "C": 5},
    {"B": 2, "C": 0},
]
LARGE = [{"B": 37, "C": 2003}]


@intent.kernel
def causal_conv1d_update(
    x: I.In[I.f32, ("B", "C")],
    weight: I.In[I.f32, ("C", TAPS)],
    bias: I.In[I.f32, ("C",)],
    state: I.InOut[I.f32, ("B", "C", TAPS - 1)],
    out: I.Out[I.f32, ("B", "C")],
):
    B, C = x.shape
    for b, c in I.parallel((I.domain(0, B), I.domain(0, C))):
        newest = x[b, c]
        total = bias[c] + newest * weight[c, TAPS - 1]
        for tap in range(TAPS - 1):
            total = total + state[b, c, tap] * weight[c, tap]
        out[b, c] = total * I.sigmoid(total)
        for tap in range(TAPS - 2):
            state[b, c, tap] = state[b, c, tap + 1]
        state[b, c, TAPS - 2] = newest


def reference(x, weight, bias, state):
    import numpy as np

    window = np.concatenate([state, x[:, :, None]], axis=2).astype(np.float64)
    total = np.sum(window * weight, axis=2) + bias
    return window[:, :, 1:].astype(np.float32), (total / (1.0 + np.exp(-total))).astype(np.float32)
