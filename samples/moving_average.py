"""Exponential moving average over time, one decay per channel: state = decay * state + (1 - decay) * x[t]."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "T": 7, "C": 37},
    {"B": 1, "T": 8, "C": 64},
    {"B": 1, "T": 1, "C": 1},
    {"B": 1, "T": 0, "C": 5},
    {"B": 1, "T": 3, "C": 0},
]
LARGE = [{"B": 3, "T": 67, "C": 517}]


@intent.kernel
def moving_average(
    x: I.In[I.f32, ("B", "T", "C")],
    decay: I.In[I.f32, ("C",)],
    out: I.Out[I.f32, ("B", "T", "C")],
    last: I.Out[I.f32, ("B", "C")],
):
    B, T, C = x.shape
    channels = I.domain(0, C)
    for b in I.parallel(I.domain(0, B)):
        keep = decay[channels]
        state = I.zeros((C,), I.f32)
        for t in range(T):
            state = keep * state + (1.0 - keep) * x[b, t, channels]
            out[b, t, channels] = state
        last[b, channels] = state


def inputs(rng, case):
    return {"decay": rng.random(case["C"], dtype="float32")}


def reference(x, decay):
    import numpy as np

    out = np.zeros_like(x)
    state = np.zeros((x.shape[0], x.shape[2]), dtype=np.float64)
    for t in range(x.shape[1]):
        state = decay * state + (1.0 - decay) * x[:, t]
        out[:, t] = state
    return out, state.astype(np.float32)
