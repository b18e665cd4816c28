"""Bias and one of three activations, chosen when the kernel is compiled."""

import intent
import intent.language as I


class Activation(I.Enum):
    RELU = 0
    SILU = 1
    TANH = 2


CASES = [
    {"M": 5, "N": 37, "KIND": Activation.RELU},
    {"M": 4, "N": 32, "KIND": Activation.SILU},
    {"M": 5, "N": 37, "KIND": Activation.TANH},
    {"M": 1, "N": 1},
    {"M": 0, "N": 3},
    {"M": 3, "N": 0},
]
LARGE = [{"M": 131, "N": 1031}]


@intent.kernel
def activation(
    x: I.In[I.f32, ("M", "N")],
    bias: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("M", "N")],
    KIND: I.Constexpr[Activation] = Activation.SILU,
):
    M, N = x.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    t = x[m, n] + bias[n]
    if KIND == Activation.RELU:
        y = I.maximum(t, 0.0)
    elif KIND == Activation.SILU:
        y = t * I.sigmoid(t)
    else:
        y = I.tanh(t)
    out[m, n] = y


def reference(x, bias, case):
    import numpy as np

    t = x.astype(np.float64) + bias
    kind = case.get("KIND", Activation.SILU)
    if kind == Activation.RELU:
        y = np.maximum(t, 0.0)
    elif kind == Activation.SILU:
        y = t / (1.0 + np.exp(-t))
    else:
        y = np.tanh(t)
    return y.astype(np.float32)
