"""A bottleneck block of a residual network: convolutions 1x1, 3x3 and 1x1, each normalised over the batch.

Images are [N, H, W, C]; every pixel of every channel is normalised over the N images on its own.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 8, "W": 14, "H": 14, "C1": 32, "C2": 8}, "M": {"N": 8, "W": 28, "H": 28, "C1": 64, "C2": 16}}
CASES = [{"N": 3, "W": 4, "H": 3, "C1": 5, "C2": 3}, {"N": 2, "W": 4, "H": 4, "C1": 16, "C2": 8}]
REDUCED = {"N": 4, "W": 8, "H": 8, "C1": 16, "C2": 8}
TOLERANCE = 1e-3  # a deviation of a few images may be almost zero
EPSILON = 1e-5


@intent.kernel
def per_pixel(
    x: I.In[I.f32, ("N", "H", "W", "C_in")],
    weights: I.In[I.f32, (1, 1, "C_in", "C_out")],
    out: I.Out[I.f32, ("N", "H", "W", "C_out")],
):
    out[:, :, :, :] = I.matmul(x[:, :, :, :], weights[0, 0, :, :], acc_dtype=I.f32)


@intent.kernel
def with_neighbours(
    x: I.In[I.f32, ("N", "H", "W", "C_in")],
    weights: I.In[I.f32, (3, 3, "C_in", "C_out")],
    out: I.Out[I.f32, ("N", "H", "W", "C_out")],
):
    """What lies outside of the image is zero."""
    N, H, W, C_out = out.shape
    channels = I.domain(0, x.shape[3])
    features = I.domain(0, C_out)
    column = I.indices(I.domain(0, W))
    for n, i in I.parallel((I.domain(0, N), I.domain(0, H))):
        total = I.zeros((W, C_out), I.f32)
        for p in range(3):
            for q in range(3):
                row, place = i + p - 1, column + q - 1
                inside = (row >= 0) & (row < H) & (place >= 0) & (place < W)
                pixels = I.gather(x, (n, row, place, channels), valid=inside[:, None])
                total = total + I.matmul(pixels, weights[p, q, channels, features], acc_dtype=I.f32)
        out[n, i, :, features] = total


@intent.fn
def normalized(x):
    count = I.cast(x.shape[0], I.f32)
    centred = x - I.reduce.sum(x, axis=0) / count
    deviation = I.sqrt(I.reduce.sum(centred * centred, axis=0) / count)
    return centred / I.sqrt(deviation + EPSILON)


@intent.kernel
def activate(x: I.In[I.f32, ("N", "H", "W", "C")], out: I.Out[I.f32, ("N", "H", "W", "C")]):
    out[:, :, :, :] = I.maximum(normalized(x[:, :, :, :]), 0.0)


@intent.kernel
def add_and_activate(
    x: I.In[I.f32, ("N", "H", "W", "C")],
    residual: I.In[I.f32, ("N", "H", "W", "C")],
    out: I.Out[I.f32, ("N", "H", "W", "C")],
):
    out[:, :, :, :] = I.maximum(normalized(x[:, :, :, :]) + residual[:, :, :, :], 0.0)


def build(context):
    pixel = context.compile("per_pixel", per_pixel)
    area = context.compile("with_neighbours", with_neighbours)
    relu = context.compile("activate", activate)
    finish = context.compile("add_and_activate", add_and_activate)

    def resnet(x, conv1, conv2, conv3):
        inner = relu.run(area.run(relu.run(pixel.run(x, conv1)), conv2))
        return finish.run(pixel.run(inner, conv3), x)

    return resnet


def inputs(rng, case):
    N, H, W, C1, C2 = (case[size] for size in ("N", "H", "W", "C1", "C2"))
    shapes = {"x": (N, H, W, C1), "conv1": (1, 1, C1, C2), "conv2": (3, 3, C2, C2), "conv3": (1, 1, C2, C1)}
    return {name: rng.random(shape, dtype="float32") for name, shape in shapes.items()}


def reference(x, conv1, conv2, conv3):
    import numpy as np

    def normalized(y):
        return (y - y.mean(axis=0)) / np.sqrt(y.std(axis=0) + EPSILON)

    inner = np.maximum(normalized(x @ conv1[0, 0]), 0)
    padded = np.pad(inner, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    inner = np.maximum(normalized(np.einsum("nijcpq,pqco->nijo", windows, conv2, optimize=True)), 0)
    return np.maximum(normalized(inner @ conv3[0, 0]) + x, 0)
