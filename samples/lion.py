"""One step of the Lion optimiser: the sign of a mixture of momentum and gradient, and weight decay."""

import intent
import intent.language as I


@intent.fn
def sign(v):
    return I.select(v > 0.0, I.full(v.shape, 1.0, I.f32), I.select(v < 0.0, I.full(v.shape, -1.0, I.f32), v))


@intent.kernel
def lion(
    parameter: I.InOut[I.bf16, ("N",)],
    momentum: I.InOut[I.f32, ("N",)],
    gradient: I.In[I.bf16, ("N",)],
    rate: I.f32,
    decay: I.f32,
    beta1: I.f32,
    beta2: I.f32,
):
    n = I.domain(0, parameter.shape[0])
    p = I.cast(parameter[n], I.f32)
    g = I.cast(gradient[n], I.f32)
    m = momentum[n]
    direction = sign(beta1 * m + (1.0 - beta1) * g)
    parameter[n] = I.cast(p - rate * (direction + decay * p), I.bf16)
    momentum[n] = beta2 * m + (1.0 - beta2) * g


def reference(parameter, momentum, gradient, rate, decay, beta1, beta2):
    import numpy as np

    p, m, g = parameter.astype(np.float32), momentum, gradient.astype(np.float32)
    direction = np.sign(beta1 * m + (np.float32(1.0) - beta1) * g)
    new_momentum = beta2 * m + (np.float32(1.0) - beta2) * g
    return (p - rate * (direction + decay * p)).astype(parameter.dtype), new_momentum.astype(np.float32)
