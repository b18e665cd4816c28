"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def n_body(
    position: I.In[I.f32, ("N", 3)],
    mass: I.In[I.f32, ("N",)],
    acceleration: I.Out[I.f32, ("N", 3)],
    softening: I.f32,
):
    N = position.shape[0]
    n = I.domain(0, N)
    n_2 = I.domain(0, N)
    position_term = position[n, 0] - position[n_2, 0][:, None]
    position_term_2 = position[n, 2] - position[n_2, 2][:, None]
    position_term_3 = position[n, 1] - position[n_2, 1][:, None]
    rsqrt_position = I.rsqrt(
        position_term * position_term
        + position_term_3 * position_term_3
        + position_term_2 * position_term_2
        + softening,
    )
    position_term_4 = mass[n] * rsqrt_position * rsqrt_position * rsqrt_position
    acceleration[n_2, 0] = I.reduce.sum(position_term_4 * position_term, axis=1)
    acceleration[n_2, 1] = I.reduce.sum(position_term_4 * position_term_3, axis=1)
    acceleration[n_2, 2] = I.reduce.sum(position_term_4 * position_term_2, axis=1)
