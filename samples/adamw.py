"""One AdamW step: parameters and both moments are updated in place, element by element."""

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
    for i in I.parallel(I.domain(0, parameter.shape[0])):
        g = gradient[i]
        m = beta1 * first_moment[i] + (1.0 - beta1) * g
        v = beta2 * second_moment[i] + (1.0 - beta2) * g * g
        p = parameter[i]
        step = m / correction1 / (I.sqrt(v / correction2) + epsilon)
        first_moment[i] = m
        second_moment[i] = v
        parameter[i] = p - learning_rate * (step + weight_decay * p)


def inputs(rng, case):
    return {"second_moment": rng.random(case["N"], dtype="float32")}


def reference(
    parameter,
    gradient,
    first_moment,
    second_moment,
    learning_rate,
    beta1,
    beta2,
    epsilon,
    weight_decay,
    correction1,
    correction2,
):
    import numpy as np

    m = beta1 * first_moment + (1 - beta1) * gradient
    v = beta2 * second_moment + (1 - beta2) * gradient**2
    step = m / correction1 / (np.sqrt(v / correction2) + epsilon)
    return parameter - learning_rate * (step + weight_decay * parameter), m, v
