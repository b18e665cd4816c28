"""Kernels for the tests of the host interface."""

import intent
import intent.language as I


class Direction(I.Enum):
    FORWARD = 0
    BACKWARD = 1


@intent.fn
def doubled(v):
    return v + v


@intent.kernel
def scale(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)], factor: I.f32):
    out[:] = x[:] * factor


@intent.kernel
def group_sums(x: I.In[I.f32, ("N",)], partial: I.Out[I.f32, ("G",)]):
    n = I.domain(0, x.shape[0])
    groups = partial.shape[0]
    size = (x.shape[0] + groups - 1) // groups
    for g in I.parallel(I.domain(0, groups)):
        begin = I.minimum(g * size, x.shape[0])
        end = I.minimum(begin + size, x.shape[0])
        partial[g] = I.reduce.sum(x[n[begin:end]], axis=0)


@intent.kernel
def total(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ()], largest: I.Out[I.f32, ()]):
    out[()] = I.reduce.sum(x[:], axis=0)
    largest[()] = I.reduce.max(x[:], axis=0)


@intent.kernel
def accumulate(x: I.In[I.f32, ("M", "N")], state: I.InOut[I.f32, ("M", "N")]):
    state[:, :] = state[:, :] + doubled(x[:, :])


@intent.kernel
def columns_of_four(x: I.In[I.i32, ("M", 4)], shift: I.i32, keep: I.bool, out: I.Out[I.i32, ("M", 4)]):
    out[:, :] = I.select(keep, x[:, :], x[:, :] + shift)


@intent.kernel
def halve(x: I.In[I.bf16, ("N",)], out: I.Out[I.bf16, ("N",)]):
    out[:] = x[:] * 0.5


@intent.kernel
def quarter(x: I.In[I.f8e5m2, ("N",)], out: I.Out[I.f8e4m3fn, ("N",)]):
    out[:] = I.cast(I.cast(x[:], I.f32) * 0.25, I.f8e4m3fn)


@intent.kernel
def stencil(
    x: I.In[I.f32, ("N",)],
    out: I.Out[I.f32, ("N",)],
    reach: I.Constexpr[int] = 1,
    direction: I.Constexpr[Direction] = Direction.FORWARD,
):
    n = I.domain(0, x.shape[0])
    if direction == Direction.FORWARD:
        out[n] = I.gather(x, (I.indices(n) + reach,), valid=I.indices(n) + reach < x.shape[0])
    else:
        out[n] = I.gather(x, (I.indices(n) - reach,), valid=I.indices(n) >= reach)


@intent.kernel
def separate(
    x: I.In[I.f32, ("M", "N"), I.constraints(strides=(None, 1))],
    out: I.Out[I.f32, ("M", "N"), I.constraints(noalias=True)],
):
    out[:, :] = x[:, :] + 1.0


@intent.kernel
def add_in_pool(
    x: I.In[I.f32, ("N",), I.constraints(alias="pool")], state: I.InOut[I.f32, ("N",), I.constraints(alias="pool")]
):
    state[:] = state[:] + x[:]


@intent.kernel
def indices(counts: I.Out[I.index, ("N",)]):
    n = I.domain(0, counts.shape[0])
    counts[n] = I.indices(n)


class Unrelated:
    """What a file may have beside its kernels."""


def inside():
    """A kernel that the compiler cannot read, as it is no definition of the file."""

    @intent.kernel
    def hidden(x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("N",)]):
        out[:] = x[:]

    return hidden


@intent.kernel
def normalize_sum(
    x: I.In[I.f32, ("M", "N")],
    residual: I.In[I.f32, ("M", "N")],
    weight: I.In[I.f32, ("N",)],
    epsilon: I.f32,
    total: I.Out[I.f32, ("M", "N")],
    out: I.Out[I.f32, ("M", "N")],
):
    columns = I.domain(0, x.shape[1])
    for row in I.parallel(I.domain(0, x.shape[0])):
        summed = x[row, columns] + residual[row, columns]
        total[row, columns] = summed
        square = I.reduce.sum(summed * summed, axis=0) / I.cast(x.shape[1], I.f32)
        out[row, columns] = summed * I.rsqrt(square + epsilon) * weight[columns]
