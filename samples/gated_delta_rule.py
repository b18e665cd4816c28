"""The delta rule with a gate: before a key replaces what it held, the whole state decays by exp(gate)."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "H": 2, "T": 5, "D": 7, "E": 11},
    {"B": 1, "H": 1, "T": 6, "D": 16, "E": 16},
    {"B": 1, "H": 1, "T": 1, "D": 1, "E": 1},
    {"B": 1, "H": 1, "T": 0, "D": 4, "E": 4},
]
LARGE = [{"B": 2, "H": 3, "T": 67, "D": 64, "E": 48}]


@intent.kernel
def gated_delta_rule(
    query: I.In[I.f32, ("B", "T", "H", "D")],
    key: I.In[I.f32, ("B", "T", "H", "D")],
    value: I.In[I.f32, ("B", "T", "H", "E")],
    gate: I.In[I.f32, ("B", "T", "H")],
    strength: I.In[I.f32, ("B", "T", "H")],
    state: I.InOut[I.f32, ("B", "H", "D", "E")],
    out: I.Out[I.f32, ("B", "T", "H", "E")],
):
    B, T, H, D = query.shape
    E = value.shape[3]
    d = I.domain(0, D)
    e = I.domain(0, E)
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        held = state[b, h, d, e]
        for t in range(T):
            held = held * I.exp(gate[b, t, h])
            k = key[b, t, h, d]
            learned = strength[b, t, h] * (value[b, t, h, e] - I.vecmat(k, held, acc_dtype=I.f32))
            held = held + k[:, None] * learned[None, :]
            out[b, t, h, e] = I.vecmat(query[b, t, h, d], held, acc_dtype=I.f32)
        state[b, h, d, e] = held


def inputs(rng, case):
    import numpy as np

    shape = (case["B"], case["T"], case["H"])
    key = rng.standard_normal((*shape, case["D"]))
    key /= np.maximum(np.linalg.norm(key, axis=3, keepdims=True), 1e-6)
    return {
        "key": key.astype(np.float32),
        "gate": -rng.random(shape, dtype="float32"),
        "strength": rng.random(shape, dtype="float32"),
    }


def reference(query, key, value, gate, strength, state):
    import numpy as np

    out = np.zeros(value.shape)
    held = state.astype(np.float64)
    for t in range(query.shape[1]):
        held = held * np.exp(gate[:, t].astype(np.float64))[:, :, None, None]
        old = np.einsum("bhd,bhde->bhe", key[:, t], held)
        learned = strength[:, t, :, None] * (value[:, t] - old)
        held = held + key[:, t, :, :, None] * learned[:, :, None, :]
        out[:, t] = np.einsum("bhd,bhde->bhe", query[:, t], held)
    return held.astype(np.float32), out.astype(np.float32)
