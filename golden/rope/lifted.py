"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rope(
    x: I.InOut[I.f16, ("T", "H", 64)],
    cosine: I.In[I.f32, ("T", 32)],
    sine: I.In[I.f32, ("T", 32)],
):
    T = x.shape[0]
    H = x.shape[1]
    t = I.domain(0, T)
    h = I.domain(0, H)
    coordinates = I.domain(0, 32)
    x_values = x[t, h, coordinates]
    x_values_2 = x[t, h, I.indices(coordinates) + 32]
    sine_values = sine[t, coordinates]
    x_f32 = I.cast(x_values_2, I.f32)
    cosine_values = cosine[t, coordinates]
    x_f32_2 = I.cast(x_values, I.f32)
    x[t, h, coordinates] = I.cast(x_f32_2 * cosine_values[:, None, :] - x_f32 * sine_values[:, None, :], I.f16)
    x[t, h, I.indices(coordinates) + 32] = I.cast(
        x_f32 * cosine_values[:, None, :] + x_f32_2 * sine_values[:, None, :], I.f16
    )
