"""Gravitational acceleration of every body by all others, softened near contact."""

import intent
import intent.language as I


@intent.kernel
def n_body(
    position: I.In[I.f32, ("N", 3)],
    mass: I.In[I.f32, ("N",)],
    softening: I.f32,
    acceleration: I.Out[I.f32, ("N", 3)],
):
    N = mass.shape[0]
    i = I.domain(0, N)
    j = I.domain(0, N)
    dx = position[j, 0][None, :] - position[i, 0][:, None]
    dy = position[j, 1][None, :] - position[i, 1][:, None]
    dz = position[j, 2][None, :] - position[i, 2][:, None]
    inverse = I.rsqrt(dx * dx + dy * dy + dz * dz + softening)
    weight = mass[j][None, :] * inverse * inverse * inverse
    acceleration[i, 0] = I.reduce.sum(weight * dx, axis=1)
    acceleration[i, 1] = I.reduce.sum(weight * dy, axis=1)
    acceleration[i, 2] = I.reduce.sum(weight * dz, axis=1)


FINITE = ["position", "mass"]


def reference(position, mass, softening):
    import numpy as np

    difference = position[None, :].astype(np.float64) - position[:, None]
    weight = mass / (np.sum(difference**2, axis=2) + softening) ** 1.5
    return np.einsum("ij,ijc->ic", weight, difference).astype(np.float32)
