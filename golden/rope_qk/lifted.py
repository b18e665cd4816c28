"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rope_qk(
    query: I.InOut[I.f32, ("T", "H", 32)],
    key: I.InOut[I.f32, ("T", "G", 32)],
    position: I.In[I.i32, ("T",)],
):
    T = query.shape[0]
    H = query.shape[1]
    G = key.shape[1]
    t = I.domain(0, T)
    h = I.domain(0, H)
    coordinates = I.domain(0, 16)
    g = I.domain(0, G)
    query_values = query[t, h, coordinates]
    query_values_2 = query[t, h, I.indices(coordinates) + 16]
    key_values = key[t, g, coordinates]
    key_values_2 = key[t, g, I.indices(coordinates) + 16]
    position_term = I.cast(position[t], I.f32)[:, None] * I.exp(I.cast(I.indices(coordinates), I.f32) * -0.5756463)
    sin_position = I.sin(position_term)
    cos_position = I.cos(position_term)
    query[t, h, coordinates] = query_values * cos_position[:, None, :] - query_values_2 * sin_position[:, None, :]
    query[t, h, I.indices(coordinates) + 16] = (
        query_values_2 * cos_position[:, None, :] + query_values * sin_position[:, None, :]
    )
    key[t, g, coordinates] = key_values * cos_position[:, None, :] - key_values_2 * sin_position[:, None, :]
    key[t, g, I.indices(coordinates) + 16] = (
        key_values_2 * cos_position[:, None, :] + key_values * sin_position[:, None, :]
    )
