"""Convolution of images [N, H, W, C_in] with K x K filters and a bias, without padding."""

import intent
import intent.language as I

SIZES = {
    "S": {"N": 8, "C_in": 3, "C_out": 16, "K": 2, "H": 32, "W": 32},
    "M": {"N": 8, "C_in": 3, "C_out": 8, "K": 5, "H": 64, "W": 64},
}
CASES = [
    {"N": 1, "C_in": 3, "C_out": 5, "K": 2, "H": 4, "W": 6},
    {"N": 1, "C_in": 3, "C_out": 8, "K": 2, "H": 5, "W": 9},
    {"N": 1, "C_in": 1, "C_out": 1, "K": 1, "H": 1, "W": 1},
]


@intent.kernel
def convolution(
    x: I.In[I.f32, ("N", "H", "W", "C_in")],
    weights: I.In[I.f32, ("K", "K", "C_in", "C_out")],
    bias: I.In[I.f32, ("C_out",)],
    out: I.Out[I.f32, ("N", "H_out", "W_out", "C_out")],
):
    N, H_out, W_out, C_out = out.shape
    K, _, C_in, _ = weights.shape
    column = I.indices(I.domain(0, W_out))
    channels = I.domain(0, C_in)
    features = I.domain(0, C_out)
    for n, i in I.parallel((I.domain(0, N), I.domain(0, H_out))):
        total = I.zeros((W_out, C_out), I.f32) + bias[features]
        for p in range(K):
            for q in range(K):
                pixels = x[n, i + p, column + q, channels]
                total = total + I.matmul(pixels, weights[p, q, channels, features], acc_dtype=I.f32)
        out[n, i, :, features] = total


def build(context):
    convolve = context.compile("convolution", convolution)

    def conv2d(x, weights, bias):
        size = weights.shape[0]
        return convolve.run(x, weights, bias, H_out=x.shape[1] - size + 1, W_out=x.shape[2] - size + 1)

    return conv2d


def inputs(rng, case):
    N, H, W, K = case["N"], case["H"], case["W"], case["K"]
    return {
        "x": rng.random((N, H, W, case["C_in"]), dtype="float32"),
        "weights": rng.random((K, K, case["C_in"], case["C_out"]), dtype="float32"),
        "bias": rng.random(case["C_out"], dtype="float32"),
    }


def reference(x, weights, bias):
    import numpy as np

    size = len(weights)
    windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(1, 2))
    return np.einsum("nijcpq,pqco->nijo", windows, weights, optimize=True) + bias
