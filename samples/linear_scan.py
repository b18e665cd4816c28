"""h[t] = decay[t] * h[t - 1] + x[t] along rows, as an associative scan over (decay, value) pairs."""

import intent
import intent.language as I

FINITE = ("decay",)


@intent.fn
def compose(lhs, rhs):
    return I.record(decay=lhs.decay * rhs.decay, value=lhs.value * rhs.decay + rhs.value)


@intent.kernel
def linear_scan(
    decay: I.In[I.f32, ("M", "T")],
    x: I.In[I.f32, ("M", "T")],
    out: I.Out[I.f32, ("M", "T")],
):
    M, T = x.shape
    steps = I.domain(0, T)
    for row in I.parallel(I.domain(0, M)):
        state = I.scan(
            I.record(decay=decay[row, steps], value=x[row, steps]),
            axis=0,
            identity=I.record(decay=1.0, value=0.0),
            combine=compose,
            inclusive=True,
        )
        out[row, steps] = state.value


def inputs(rng, case):
    return {"decay": rng.random((case["M"], case["T"]), dtype="float32")}


def reference(decay, x):
    import numpy as np

    out = np.zeros_like(x)
    state = np.zeros(x.shape[0], dtype=np.float64)
    for t in range(x.shape[1]):
        state = decay[:, t] * state + x[:, t]
        out[:, t] = state
    return out
