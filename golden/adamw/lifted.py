"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def adamw(
    parameter: I.InOut[I.f32, ("N",)],
    gradient: I.In[I.f32, ("N",)],
    first_moment: I.InOut[I.f32, ("N",)],
    second_moment: I.InOut[I.f32, ("N",)],
    learning_rate: I.f32,
    beta1: I.f32,
    beta2: I.f32,
    epsilon: I.f32,
    weight_decay: I.f32,
    correction1: I.f32,
    correction2: I.f32,
):
    N = parameter.shape[0]
    n = I.domain(0, N)
    second_moment_values = second_moment[n]
    first_moment_values = first_moment[n]
    gradient_values = gradient[n]
    gradient_term = beta1 * first_moment_values + (1.0 - beta1) * gradient_values
    first_moment[n] = gradient_term
    gradient_term_2 = beta2 * second_moment_values + (1.0 - beta2) * gradient_values * gradient_values
    second_moment[n] = gradient_term_2
    parameter_values = parameter[n]
    parameter[n] = parameter_values - learning_rate * (
        gradient_term / correction1 / (I.sqrt(gradient_term_2 / correction2) + epsilon)
        + weight_decay * parameter_values
    )
