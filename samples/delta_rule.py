"""Linear attention with the delta rule: a matrix state forgets what a key held before it learns the new value."""

import intent
import intent.language as I

CASES = [
    {"B": 2, "T": 5, "D": 7, "E": 11},
    {"B": 1, "T": 6, "D": 16, "E": 16},
    {"B": 1, "T": 1, "D": 1, "E": 1},
    {"B": 1, "T": 0, "D": 4, "E": 4},
    {"B": 0, "T": 3, "D": 4, "E": 4},
]
LARGE = [{"B": 5, "T": 67, "D": 64, "E": 48}]


@intent.kernel
def delta_rule(
    query: I.In[I.f32, ("B", "T", "D")],
    key: I.In[I.f32, ("B", "T", "D")],
    value: I.In[I.f32, ("B", "T", "E")],
    strength: I.In[I.f32, ("B", "T")],
    out: I.Out[I.f32, ("B", "T", "E")],
):
    B, T, D = query.shape
    E = value.shape[2]
    d = I.domain(0, D)
    e = I.domain(0, E)
    for b in I.parallel(I.domain(0, B)):
        state = I.zeros((D, E), I.f32)
        for t in range(T):
            k = I.reshape(key[b, t, d], (D, 1))
            held = I.reduce.sum(k * state, axis=0)
            state = state + k * (strength[b, t] * (value[b, t, e] - held))
            q = I.reshape(query[b, t, d], (D, 1))
            out[b, t, e] = I.reduce.sum(q * state, axis=0)


def inputs(rng, case):
    import numpy as np

    key = rng.standard_normal((case["B"], case["T"], case["D"]))
    key /= np.maximum(np.linalg.norm(key, axis=2, keepdims=True), 1e-6)
    strength = rng.random((case["B"], case["T"]), dtype="float32")
    return {"key": key.astype(np.float32), "strength": strength}


def reference(query, key, value, strength):
    import numpy as np

    out = np.zeros_like(value)
    state = np.zeros((query.shape[0], query.shape[2], value.shape[2]), dtype=np.float64)
    for t in range(query.shape[1]):
        held = np.einsum("bd,bde->be", key[:, t], state)
        learned = strength[:, t, None] * (value[:, t] - held)
        state += key[:, t, :, None] * learned[:, None, :]
        out[:, t] = np.einsum("bd,bde->be", query[:, t], state)
    return out
