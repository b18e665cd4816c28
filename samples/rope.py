"""Rotary position embedding, in place: element p of each head turns with element p + HALF by the token's angle."""

import intent
import intent.language as I

HALF = 32

CASES = [
    {"T": 3, "H": 5},
    {"T": 4, "H": 4},
    {"T": 1, "H": 1},
    {"T": 0, "H": 3},
    {"T": 2, "H": 0},
]
LARGE = [{"T": 131, "H": 13}]


@intent.kernel
def rope(
    x: I.InOut[I.f16, ("T", "H", 2 * HALF)],
    cosine: I.In[I.f32, ("T", HALF)],
    sine: I.In[I.f32, ("T", HALF)],
):
    T, H, _ = x.shape
    heads = I.domain(0, H)
    pairs = I.domain(0, HALF)
    for t in I.parallel(I.domain(0, T)):
        c = cosine[t, pairs]
        s = sine[t, pairs]
        first = I.cast(x[t, heads, pairs], I.f32)
        second = I.cast(x[t, heads, I.indices(pairs) + HALF], I.f32)
        x[t, heads, pairs] = I.cast(first * c - second * s, I.f16)
        x[t, heads, I.indices(pairs) + HALF] = I.cast(second * c + first * s, I.f16)


def reference(x, cosine, sine):
    import numpy as np

    first = x[:, :, :HALF].astype(np.float32)
    second = x[:, :, HALF:].astype(np.float32)
    c = cosine[:, None, :]
    s = sine[:, None, :]
    return np.concatenate([first * c - second * s, second * c + first * s], axis=2).astype(np.float16)
