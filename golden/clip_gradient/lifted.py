"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def clip_gradient(
    gradient: I.InOut[I.f32, ("N",)],
    norm: I.f32,
    limit: I.f32,
):
    N = gradient.shape[0]
    n = I.domain(0, N)
    if I.cast(I.select(I.cast(norm <= limit, I.index) == 0, True, False), I.bool):
        gradient[n] = gradient[n] * (limit / norm)
