"""LeNet-5: two convolutions with pooling, three fully connected layers; images [N, H, W, 1], relu throughout."""

import intent
import intent.language as I

SIZES = {"S": {"N": 4, "H": 28, "W": 28}, "M": {"N": 8, "H": 56, "W": 56}}
CASES = [{"N": 1, "H": 16, "W": 18}]
REDUCED = {"N": 1, "H": 20, "W": 20}
SLOW = True


@intent.kernel
def convolution(
    x: I.In[I.f32, ("N", "H", "W", "C_in")],
    weights: I.In[I.f32, (5, 5, "C_in", "C_out")],
    bias: I.In[I.f32, ("C_out",)],
    out: I.Out[I.f32, ("N", "H_out", "W_out", "C_out")],
):
    """With relu, and the largest of every two by two results."""
    N, H_out, W_out, C_out = out.shape
    channels = I.domain(0, x.shape[3])
    features = I.domain(0, C_out)
    column = I.indices(I.domain(0, W_out))
    for n, i in I.parallel((I.domain(0, N), I.domain(0, H_out))):
        best = I.zeros((W_out, C_out), I.f32)
        for a in range(2):
            for b in range(2):
                total = I.zeros((W_out, C_out), I.f32)
                for p in range(5):
                    for q in range(5):
                        pixels = x[n, 2 * i + a + p, 2 * column + b + q, channels]
                        total = total + I.matmul(pixels, weights[p, q, channels, features], acc_dtype=I.f32)
                best = I.maximum(best, total + bias[features])
        out[n, i, :, features] = best


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


def build(context):
    convolve = context.compile("convolution", convolution)
    hidden = context.compile("layer", layer)
    last = context.compile("last_layer", last_layer)

    def pooled(size):
        return (size - 4) // 2

    def lenet(x, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, count, width):
        for weights, bias in ((conv1, conv1bias), (conv2, conv2bias)):
            x = convolve.run(x, weights, bias, H_out=pooled(x.shape[1]), W_out=pooled(x.shape[2]))
        x = hidden.run(x.reshape(count, width), fc1w, fc1b)
        return last.run(hidden.run(x, fc2w, fc2b), fc3w, fc3b)

    return lenet


def inputs(rng, case):
    def random(*shape):
        return rng.standard_normal(shape, dtype="float32") / 8

    N, H, W = case["N"], case["H"], case["W"]
    width = 16 * ((H - 4) // 2 - 4 >> 1) * ((W - 4) // 2 - 4 >> 1)
    values = {"x": random(N, H, W, 1), "conv1": random(5, 5, 1, 6), "conv1bias": random(6)}
    values |= {"conv2": random(5, 5, 6, 16), "conv2bias": random(16)}
    for number, (before, after) in enumerate(((width, 120), (120, 84), (84, 10)), 1):
        values |= {f"fc{number}w": random(before, after), f"fc{number}b": random(after)}
    return {**values, "count": N, "width": width}


def reference(x, conv1, conv1bias, conv2, conv2bias, fc1w, fc1b, fc2w, fc2b, fc3w, fc3b, count, width):
    import numpy as np

    for weights, bias in ((conv1, conv1bias), (conv2, conv2bias)):
        windows = np.lib.stride_tricks.sliding_window_view(x, (5, 5), axis=(1, 2))
        x = np.maximum(np.einsum("nijcpq,pqco->nijo", windows, weights, optimize=True) + bias, 0)
        n, h, w, c = x.shape
        x = x[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, c).max(axis=(2, 4))
    x = np.maximum(x.reshape(count, width) @ fc1w + fc1b, 0)
    x = np.maximum(x @ fc2w + fc2b, 0)
    return x @ fc3w + fc3b
