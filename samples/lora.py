"""A linear layer with a low-rank addition: out = x @ w + scale * (x @ a) @ b, one pass over x for both."""

import intent
import intent.language as I

RANK = 16

CASES = [
    {"M": 5, "K": 19, "N": 37},
    {"M": 16, "K": 32, "N": 32},
    {"M": 1, "K": 1, "N": 1},
    {"M": 0, "K": 4, "N": 5},
    {"M": 3, "K": 0, "N": 4},
]
LARGE = [{"M": 131, "K": 259, "N": 517}]


@intent.kernel
def lora(
    x: I.In[I.f16, ("M", "K")],
    weight: I.In[I.f16, ("K", "N")],
    a: I.In[I.f16, ("K", RANK)],
    b: I.In[I.f16, (RANK, "N")],
    scale: I.f32,
    out: I.Out[I.f16, ("M", "N")],
):
    v = x[:, :]
    inner = I.cast(I.matmul(v, a[:, :], acc_dtype=I.f32) * scale, I.f16)
    total = I.matmul(v, weight[:, :], acc_dtype=I.f32) + I.matmul(inner, b[:, :], acc_dtype=I.f32)
    out[:, :] = I.cast(total, I.f16)


FINITE = ["x", "weight", "a", "b"]


def reference(x, weight, a, b, scale):
    import numpy as np

    v = x.astype(np.float64)
    inner = (v @ a.astype(np.float64) * scale).astype(np.float16)
    return (v @ weight.astype(np.float64) + inner.astype(np.float64) @ b.astype(np.float64)).astype(np.float16)
