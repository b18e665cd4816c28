"""One-dimensional convolution with stride and dilation over channels first; an output contracts channels and taps."""

import intent
import intent.language as I

STRIDE = 2
DILATION = 3
TAPS = 3

CASES = [
    {"B": 2, "C": 5, "T": 25, "F": 7, "U": 10},
    {"B": 1, "C": 16, "T": 22, "F": 16, "U": 8},
    {"B": 1, "C": 1, "T": 7, "F": 1, "U": 1},
    {"B": 0, "C": 3, "T": 9, "F": 2, "U": 2},
    {"B": 1, "C": 2, "T": 6, "F": 3, "U": 0},
]
LARGE = [{"B": 3, "C": 37, "T": 517, "F": 67, "U": 256}]


@intent.kernel
def conv1d(
    x: I.In[I.f16, ("B", "C", "T")],
    weight: I.In[I.f16, ("F", "C", TAPS)],
    bias: I.In[I.f32, ("F",)],
    out: I.Out[I.f16, ("B", "F", "U")],
):
    B, C, _ = x.shape
    _, F, U = out.shape
    c = I.domain(0, C)
    f = I.domain(0, F)
    u = I.domain(0, U)
    tap = I.domain(0, TAPS)
    at = I.indices(tap)[:, None] * DILATION + I.indices(u)[None, :] * STRIDE
    for b in I.parallel(I.domain(0, B)):
        total = I.contract(weight[f, c, tap], x[b, c, at], reduce=((1, 0), (2, 1)), acc_dtype=I.f32)
        out[b, f, u] = I.cast(total + bias[f][:, None], I.f16)


FINITE = ["x", "weight"]


def reference(x, weight, bias, case):
    import numpy as np

    at = np.arange(case["U"])[:, None] * STRIDE + np.arange(TAPS) * DILATION
    total = np.einsum("bcut,fct->bfu", x[:, :, at].astype(np.float64), weight.astype(np.float64))
    return (total + bias[:, None]).astype(np.float16)
