"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def rope_cache_update(
    key: I.In[I.f16, ("B", "H", "K")],
    value: I.In[I.f16, ("B", "H", "BLOCK_I_2")],
    cosine: I.In[I.f32, ("V", "BLOCK_I")],
    sine: I.In[I.f32, ("V_2", "BLOCK_I")],
    length: I.In[I.i32, ("B",)],
    key_cache: I.Out[I.f16, ("B", "H", "S", "K")],
    value_cache: I.Out[I.f16, ("B", "H", "S", "BLOCK_I_2")],
):
    B = key.shape[0]
    H = key.shape[1]
    BLOCK_I_2 = value.shape[2]
    BLOCK_I = cosine.shape[1]
    S = key_cache.shape[2]
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for block_i in I.parallel(I.domain(0, BLOCK_I)):
                length_value = length[b]
                length_term = 0 <= I.cast(length_value, I.index)
                length_term_2 = length_term & (I.cast(length_value, I.index) < S) & length_term
                if length_term_2:
                    length_value_2 = sine[I.cast(length_value, I.index), block_i]
                    key_f32 = I.cast(key[b, h, block_i + 8], I.f32)
                    length_value_3 = cosine[I.cast(length_value, I.index), block_i]
                    key_f32_2 = I.cast(key[b, h, block_i], I.f32)
                    key_cache[b, h, I.cast(length_value, I.index), block_i] = (
                        I.cast(key_f32_2 * length_value_3 - key_f32 * length_value_2, I.f16)
                    )
                if length_term_2:
                    length_value_4 = sine[I.cast(length_value, I.index), block_i]
                    key_f32_3 = I.cast(key[b, h, block_i], I.f32)
                    length_value_5 = cosine[I.cast(length_value, I.index), block_i]
                    key_f32_4 = I.cast(key[b, h, block_i + 8], I.f32)
                    key_cache[b, h, I.cast(length_value, I.index), block_i + 8] = (
                        I.cast(key_f32_4 * length_value_5 + key_f32_3 * length_value_4, I.f16)
                    )
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for block_i_2 in I.parallel(I.domain(0, BLOCK_I_2)):
                length_value_6 = length[b]
                length_term_3 = 0 <= I.cast(length_value_6, I.index)
                if length_term_3 & (I.cast(length_value_6, I.index) < S) & length_term_3:
                    value_cache[b, h, I.cast(length_value_6, I.index), block_i_2] = value[b, h, block_i_2]
