"""Rotary embedding of queries and keys in one launch; the angles are computed, so no table is read.

Element p of a head turns with element p + HALF by position * BASE ** (-p / HALF). Queries and keys share positions but
not the number of heads.
"""

import intent
import intent.language as I

HALF = 16
LOG_BASE = 9.210340371976184  # of 10000

CASES = [
    {"T": 3, "H": 5, "G": 2},
    {"T": 4, "H": 4, "G": 1},
    {"T": 1, "H": 1, "G": 1},
    {"T": 0, "H": 3, "G": 1},
    {"T": 2, "H": 2, "G": 0},
]
LARGE = [{"T": 131, "H": 13, "G": 4}]


@intent.fn
def turned(first, second, angle):
    c = I.cos(angle)
    s = I.sin(angle)
    return first * c - second * s, second * c + first * s


@intent.kernel
def rope_qk(
    query: I.InOut[I.f32, ("T", "H", 2 * HALF)],
    key: I.InOut[I.f32, ("T", "G", 2 * HALF)],
    position: I.In[I.i32, ("T",)],
):
    T, H, _ = query.shape
    G = key.shape[1]
    pairs = I.domain(0, HALF)
    exponent = I.cast(I.indices(pairs), I.f32) * (-LOG_BASE / HALF)
    for t in I.parallel(I.domain(0, T)):
        angle = I.cast(position[t], I.f32) * I.exp(exponent)
        for h in I.parallel(I.domain(0, H)):
            first, second = turned(query[t, h, :HALF], query[t, h, HALF:], angle)
            query[t, h, :HALF] = first
            query[t, h, HALF:] = second
        for g in I.parallel(I.domain(0, G)):
            first, second = turned(key[t, g, :HALF], key[t, g, HALF:], angle)
            key[t, g, :HALF] = first
            key[t, g, HALF:] = second


def inputs(rng, case):
    return {"position": rng.integers(0, 500, case["T"])}


def reference(query, key, position):
    import numpy as np

    angle = (position[:, None] * np.exp(np.arange(HALF) * (-LOG_BASE / HALF)))[:, None, :]
    c, s = np.cos(angle), np.sin(angle)

    def turned(x):
        first, second = x[..., :HALF], x[..., HALF:]
        return np.concatenate([first * c - second * s, second * c + first * s], axis=2).astype(np.float32)

    return turned(query), turned(key)


TOLERANCE = 1e-4  # the angle is rounded before its sine is taken
