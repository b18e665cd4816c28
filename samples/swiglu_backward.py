"""Gradients of silu(gate) * up, written over the two inputs, which the backward pass needs no more."""

import intent
import intent.language as I


@intent.kernel
def swiglu_backward(
    gate: I.InOut[I.f32, ("M", "N")],
    up: I.InOut[I.f32, ("M", "N")],
    dy: I.In[I.f32, ("M", "N")],
):
    M, N = gate.shape
    for m, n in I.parallel((I.domain(0, M), I.domain(0, N))):
        g = gate[m, n]
        s = I.sigmoid(g)
        silu = g * s
        gradient = dy[m, n]
        gate[m, n] = gradient * up[m, n] * (s + silu * (1.0 - s))
        up[m, n] = gradient * silu


def reference(gate, up, dy):
    import numpy as np

    g = gate.astype(np.float64)
    s = 1.0 / (1.0 + np.exp(-g))
    return (dy * up * s * (1.0 + g * (1.0 - s))).astype(np.float32), (dy * g * s).astype(np.float32)
