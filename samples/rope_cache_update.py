"""Decoding step of a padded batch: the new key is turned to its position and put, with the value, into the cache.

Sequence b has `length[b]` entries in the cache; a length of -1 marks a sequence that is padding and writes nothing.
"""

import intent
import intent.language as I

HALF = 8

CASES = [
    {"B": 5, "H": 3, "S": 11},
    {"B": 4, "H": 2, "S": 8},
    {"B": 1, "H": 1, "S": 1},
    {"B": 0, "H": 3, "S": 4},
    {"B": 2, "H": 0, "S": 3},
]
LARGE = [{"B": 67, "H": 8, "S": 131}]


@intent.kernel
def rope_cache_update(
    key: I.In[I.f16, ("B", "H", 2 * HALF)],
    value: I.In[I.f16, ("B", "H", 2 * HALF)],
    cosine: I.In[I.f32, ("S", HALF)],
    sine: I.In[I.f32, ("S", HALF)],
    length: I.In[I.i32, ("B",)],
    key_cache: I.InOut[I.f16, ("B", "H", "S", 2 * HALF)],
    value_cache: I.InOut[I.f16, ("B", "H", "S", 2 * HALF)],
):
    B, H, _ = key.shape
    for b, h in I.parallel((I.domain(0, B), I.domain(0, H))):
        at = length[b]
        if at >= 0:
            c = cosine[at, :]
            s = sine[at, :]
            first = I.cast(key[b, h, :HALF], I.f32)
            second = I.cast(key[b, h, HALF:], I.f32)
            key_cache[b, h, at, :HALF] = I.cast(first * c - second * s, I.f16)
            key_cache[b, h, at, HALF:] = I.cast(second * c + first * s, I.f16)
            value_cache[b, h, at, :] = value[b, h, :]


def inputs(rng, case):
    return {"length": rng.integers(-1, case["S"], case["B"])}


def reference(key, value, cosine, sine, length, key_cache, value_cache):
    import numpy as np

    for b, at in enumerate(length):
        if at >= 0:
            first, second = key[b, :, :HALF].astype(np.float32), key[b, :, HALF:].astype(np.float32)
            c, s = cosine[at], sine[at]
            key_cache[b, :, at] = np.concatenate([first * c - second * s, second * c + first * s], axis=1)
            value_cache[b, :, at] = value[b]
    return key_cache, value_cache
