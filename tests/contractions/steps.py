"""Ordered loops that add up products of a short depth: several steps are one product where nothing forbids it."""

import intent
import intent.language as I

CASES = [
    {"M": 5, "N": 19, "G": 3},
    {"M": 33, "N": 17, "G": 5},
    {"M": 16, "N": 16, "G": 4},
    {"M": 1, "N": 1, "G": 1},
    {"M": 3, "N": 4, "G": 0},
    {"M": 0, "N": 4, "G": 2},
]


def summed(x, w, first=0):
    import numpy as np

    return np.einsum("mgk,ngk->mn", x[:, first:].astype(np.float64), w[:, first:].astype(np.float64))


@intent.kernel
def of_steps(
    x: I.In[I.bf16, ("M", "G", 32)], w: I.In[I.bf16, ("N", "G", 32)], shift: I.In[I.bf16, ("N", "G")],
    o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    total = I.zeros((x.shape[0], w.shape[0]), I.f32)
    for g in range(x.shape[1]):
        total = total + I.matmul(x[:, g, :], w[:, g, :] + shift[:, g][:, None], acc_dtype=I.f32, transpose_rhs=True)
    o[:, :] = total


@intent.kernel
def without_the_first_step(x: I.In[I.f16, ("M", "G", 64)], w: I.In[I.f16, ("N", "G", 64)], o: I.Out[I.f32, ("N", "M")]):
    total = I.zeros((x.shape[0], w.shape[0]), I.f32)
    for g in range(1, x.shape[1]):
        total += I.matmul(x[:, g, :], w[:, g, :], acc_dtype=I.f32, transpose_rhs=True)
    o[:, :] = I.transpose(total * 2.0, (1, 0))


@intent.kernel
def of_two_sums(
    x: I.In[I.f16, ("M", "G", 32)], w: I.In[I.f16, ("N", "G", 32)], v: I.In[I.f16, ("N", "G", 32)],
    o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    first = I.zeros((x.shape[0], w.shape[0]), I.f32)
    second = I.zeros((x.shape[0], w.shape[0]), I.f32)
    for g in range(x.shape[1]):
        first = first + I.matmul(x[:, g, :], w[:, g, :], acc_dtype=I.f32, transpose_rhs=True)
        second = I.matmul(x[:, g, :], v[:, g, :], acc_dtype=I.f32, transpose_rhs=True) + second
    o[:, :] = first * 0.5 + second


@intent.kernel
def begun_elsewhere(
    x: I.In[I.f16, ("M", "G", 32)], w: I.In[I.f16, ("N", "G", 32)], bias: I.In[I.f32, ("N",)],
    o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    total = I.zeros((x.shape[0], w.shape[0]), I.f32) + bias[:]
    for g in range(x.shape[1]):
        total = total + I.matmul(x[:, g, :], w[:, g, :], acc_dtype=I.f32, transpose_rhs=True)
    o[:, :] = total


@intent.kernel
def of_reduced_steps(x: I.In[I.f16, ("M", "G", 32)], w: I.In[I.f16, ("N", "G", 32)], o: I.Out[I.f32, ("M", "N")]):
    total = I.zeros((x.shape[0], w.shape[0]), I.f32)
    for g in range(x.shape[1]):
        centred = w[:, g, :] - I.reduce.max(w[:, g, :], axis=1)[:, None]
        total = total + I.matmul(x[:, g, :], centred, acc_dtype=I.f32, transpose_rhs=True)
    o[:, :] = total


@intent.kernel
def of_gathered_steps(
    x: I.In[I.f16, ("M", "G", 32)], w: I.In[I.f16, ("N", "G", 32)], order: I.In[I.i32, ("G",)],
    o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    total = I.zeros((x.shape[0], w.shape[0]), I.f32)
    for g in range(x.shape[1]):
        total = total + I.matmul(x[:, g, :], w[:, order[g], :], acc_dtype=I.f32, transpose_rhs=True)
    o[:, :] = total


@intent.kernel
def over_both_axes(
    x: I.In[I.f16, ("M", "G", 32)], w: I.In[I.f16, ("N", "G", 32)], shift: I.In[I.f16, ("N", "G")],
    o: I.Out[I.f32, ("M", "N")],
):  # fmt: skip
    o[:, :] = I.contract(x[:, :, :], w[:, :, :] + shift[:, :][:, :, None], reduce=((1, 1), (2, 2)), acc_dtype=I.f32)


@intent.kernel
def over_both_axes_and_one(
    x: I.In[I.f16, ("G", "M", 32)], w: I.In[I.f16, ("N", 32, "G")], o: I.Out[I.f32, ("M",)], p: I.Out[I.f32, ("M", "N")]
):
    g = I.domain(1, x.shape[0])
    product = I.contract(x[g, :, :], w[:, :, g], reduce=((0, 2), (2, 1)), acc_dtype=I.f32)
    p[:, :] = product
    o[:] = I.reduce.sum(product, axis=1)


@intent.kernel
def of_halves_of_bytes(x: I.In[I.f16, ("M", "G", 32)], w: I.In[I.u8, ("N", "G", 16)], o: I.Out[I.f32, ("M", "N")]):
    k = I.indices(I.domain(0, 32))
    total = I.zeros((x.shape[0], w.shape[0]), I.f32)
    for g in range(x.shape[1]):
        byte = w[:, g, k // 2]
        weight = I.cast(I.select(k % 2 == 0, byte & 15, byte >> 4), I.f16)
        total = total + I.matmul(x[:, g, :], weight, acc_dtype=I.f32, transpose_rhs=True)
    o[:, :] = total


def inputs(rng, case):
    import numpy as np

    return {"order": rng.permutation(case["G"]).astype(np.int32)}


def of_steps_reference(x, w, shift):
    import ml_dtypes
    import numpy as np

    moved = w.astype(np.float32) + shift.astype(np.float32)[:, :, None]
    return summed(x, moved.astype(ml_dtypes.bfloat16)).astype(np.float32)


def without_the_first_step_reference(x, w):
    return (summed(x, w, 1).T * 2).astype("float32")


def of_two_sums_reference(x, w, v):
    return (summed(x, w) * 0.5 + summed(x, v)).astype("float32")


def begun_elsewhere_reference(x, w, bias):
    return (summed(x, w) + bias).astype("float32")


def of_reduced_steps_reference(x, w):
    return summed(x, w - w.max(axis=2, keepdims=True)).astype("float32")


def of_gathered_steps_reference(x, w, order):
    return summed(x, w[:, order]).astype("float32")


def over_both_axes_reference(x, w, shift):
    return summed(x, w + shift[:, :, None]).astype("float32")


def over_both_axes_and_one_reference(x, w):
    product = summed(x.transpose(1, 0, 2), w.transpose(0, 2, 1), 1).astype("float32")
    return product.sum(axis=1), product


def of_halves_of_bytes_reference(x, w):
    import numpy as np

    return summed(x, np.stack([w & 15, w >> 4], axis=3).reshape(w.shape[0], w.shape[1], 32)).astype("float32")
