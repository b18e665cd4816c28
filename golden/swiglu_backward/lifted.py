"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def swiglu_backward(
    gate: I.InOut[I.f32, ("M", "N")],
    up: I.InOut[I.f32, ("M", "N")],
    dy: I.In[I.f32, ("M", "N")],
):
    M, N = gate.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    gate_values = gate[m, n]
    sigmoid_gate = I.sigmoid(gate_values)
    gate_term = gate_values * sigmoid_gate
    dy_values = dy[m, n]
    gate[m, n] = dy_values * up[m, n] * (sigmoid_gate + gate_term * (1.0 - sigmoid_gate))
    up[m, n] = dy_values * gate_term
