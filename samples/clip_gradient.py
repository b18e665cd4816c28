"""Scale a gradient down to a largest norm, in place; a gradient that is short enough is not touched."""

import intent
import intent.language as I

CASES = [
    {"N": 37, "norm": 5.0, "limit": 1.5},
    {"N": 64, "norm": 0.5, "limit": 1.5},
    {"N": 1, "norm": 3.0, "limit": 1.0},
    {"N": 0, "norm": 3.0, "limit": 1.0},
]
LARGE = [{"N": 100_003, "norm": 5.0, "limit": 1.5}]


@intent.kernel
def clip_gradient(
    gradient: I.InOut[I.f32, ("N",)],
    norm: I.f32,
    limit: I.f32,
):
    if norm <= limit:
        return
    n = I.domain(0, gradient.shape[0])
    gradient[n] = gradient[n] * (limit / norm)


def reference(gradient, norm, limit):
    return gradient if norm <= limit else gradient * (limit / norm)
