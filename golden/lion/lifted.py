"""Lifted from module.py."""

import intent
import intent.language as I


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
    N = parameter.shape[0]
    n = I.domain(0, N)
    parameter_f32 = I.cast(parameter[n], I.f32)
    gradient_f32 = I.cast(gradient[n], I.f32)
    momentum_values = momentum[n]
    gradient_term = beta1 * momentum_values + (1.0 - beta1) * gradient_f32
    parameter[n] = I.cast(
        parameter_f32
        - rate
        * (
            I.select(gradient_term > 0.0, 1.0, I.select(gradient_term < 0.0, -1.0, gradient_term))
            + decay * parameter_f32
        ),
        I.bf16,
    )
    momentum[n] = beta2 * momentum_values + (1.0 - beta2) * gradient_f32
