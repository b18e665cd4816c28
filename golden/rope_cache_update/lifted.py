"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rope_cache_update(
    key: I.In[I.f16, ("B", "H", "K")],
    value: I.In[I.f16, ("B", "H", "BLOCK_I_2")],
    cosine: I.In[I.f32, ("S", "BLOCK_I")],
    sine: I.In[I.f32, ("S", "BLOCK_I")],
    length: I.In[I.i32, ("B",)],
    key_cache: I.Out[I.f16, ("B", "H", "S", "K")],
    value_cache: I.Out[I.f16, ("B", "H", "S", "BLOCK_I_2")],
):
    B = key.shape[0]
    H = key.shape[1]
    BLOCK_I_2 = value.shape[2]
    S, BLOCK_I = cosine.shape
    block_i = I.domain(0, BLOCK_I)
    h = I.domain(0, H)
    block_i_2 = I.domain(0, BLOCK_I_2)
    for b in I.parallel(I.domain(0, B)):
        length_value = I.cast(length[b], I.index)
        length_term = 0 <= length_value
        if length_term & (length_value < S) & length_term:
            sine_values = sine[length_value, block_i]
            key_f32 = I.cast(key[b, h, I.indices(block_i) + 8], I.f32)
            cosine_values = cosine[length_value, block_i]
            key_f32_2 = I.cast(key[b, h, block_i], I.f32)
            key_cache[b, h, length_value, block_i] = I.cast(key_f32_2 * cosine_values - key_f32 * sine_values, I.f16)
            key_cache[b, h, length_value, I.indices(block_i) + 8] = I.cast(
                key_f32 * cosine_values + key_f32_2 * sine_values, I.f16
            )
            value_cache[b, h, length_value, block_i_2] = value[b, h, block_i_2]
