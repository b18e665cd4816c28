"""Three fully connected layers, the first two with relu, the last with a softmax along its outputs."""

import intent
import intent.language as I

SIZES = {
    "S": {"C_in": 3, "N": 8, "S0": 30000, "S1": 2000, "S2": 2000},
    "M": {"C_in": 3, "N": 8, "S0": 30000, "S1": 10000, "S2": 10000},
}
CASES = [
    {"C_in": 3, "N": 5, "S0": 37, "S1": 19, "S2": 11},
    {"C_in": 3, "N": 8, "S0": 32, "S1": 16, "S2": 16},
    {"C_in": 1, "N": 1, "S0": 1, "S1": 1, "S2": 1},
]
REDUCED = {"C_in": 3, "N": 8, "S0": 3000, "S1": 200, "S2": 200}


@intent.kernel
def layer(
    x: I.In[I.f32, ("N", "K")],
    w: I.In[I.f32, ("K", "M")],
    b: I.In[I.f32, ("M",)],
    out: I.Out[I.f32, ("N", "M")],
):
    out[:, :] = I.maximum(I.matmul(x[:, :], w[:, :], acc_dtype=I.f32) + b[:], 0.0)


@intent.kernel
def last_layer(
    x: I.In[I.f32, ("N", "K")],
    w: I.In[I.f32, ("K", "M")],
    b: I.In[I.f32, ("M",)],
    out: I.Out[I.f32, ("N", "M")],
):
    out[:, :] = I.matmul(x[:, :], w[:, :], acc_dtype=I.f32) + b[:]


@intent.kernel
def softmax(x: I.In[I.f32, ("N", "M")], out: I.Out[I.f32, ("N", "M")]):
    for n in I.parallel(I.domain(0, x.shape[0])):
        row = x[n, :]
        weight = I.exp(row - I.reduce.max(row, axis=0))
        out[n, :] = weight / I.reduce.sum(weight, axis=0)


def build(context):
    hidden = context.compile("layer", layer)
    last = context.compile("last_layer", last_layer)
    normalize = context.compile("softmax", softmax)

    def mlp(x, w1, b1, w2, b2, w3, b3):
        x = hidden.run(hidden.run(x, w1, b1), w2, b2)
        return normalize.run(last.run(x, w3, b3))

    return mlp


def inputs(rng, case):
    import itertools

    sizes = [case[name] for name in ("C_in", "S0", "S1", "S2")]
    values = {"x": rng.random((case["N"], sizes[0]), dtype="float32")}
    for layer, (before, after) in enumerate(itertools.pairwise(sizes), 1):
        values[f"w{layer}"] = rng.standard_normal((before, after), dtype="float32") / before
        values[f"b{layer}"] = rng.standard_normal(after, dtype="float32")
    return values


def reference(x, w1, b1, w2, b2, w3, b3):
    import numpy as np

    x = np.maximum(x @ w1 + b1, 0)
    x = np.maximum(x @ w2 + b2, 0)
    x = x @ w3 + b3
    weight = np.exp(x - x.max(axis=-1, keepdims=True))
    return weight / weight.sum(axis=-1, keepdims=True)
