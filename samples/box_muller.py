"""Normally distributed numbers from pairs of uniform ones; the generator is counted, so every element stands alone."""

import intent
import intent.language as I

TWO_PI = 6.283185307179586


@intent.kernel
def box_muller(
    seed: I.u64,
    mean: I.f32,
    deviation: I.f32,
    out: I.Out[I.f32, ("N", 2)],
):
    n = I.domain(0, out.shape[0])
    at = I.indices(n)
    first = 1.0 - I.random.uniform(seed, 2 * at, dtype=I.f32)
    angle = I.random.uniform(seed, 2 * at + 1, dtype=I.f32) * TWO_PI
    radius = I.sqrt(-2.0 * I.log(first)) * deviation
    out[n, 0] = mean + radius * I.cos(angle)
    out[n, 1] = mean + radius * I.sin(angle)


def reference(seed, mean, deviation, case):
    import numpy as np

    u = uniform(int(seed), 2 * case["N"]).reshape(-1, 2)
    radius = np.sqrt(-2.0 * np.log(1.0 - u[:, 0])) * deviation
    angle = u[:, 1] * TWO_PI
    return (mean + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)).astype(np.float32)


def uniform(seed, count):
    """Philox4x32-10: counter i takes word i % 4 of block i // 4; the upper 24 bits make a number in [0, 1)."""
    import numpy as np

    low = 0xFFFFFFFF
    block = np.arange(-(-count // 4), dtype=np.uint64)
    words = [block & np.uint64(low), block >> np.uint64(32), 0 * block, 0 * block]
    first, second = seed & low, seed >> 32
    for _ in range(10):
        one, two = np.uint64(0xD2511F53) * words[0], np.uint64(0xCD9E8D57) * words[2]
        words = [
            two >> np.uint64(32) ^ words[1] ^ np.uint64(first),
            two & np.uint64(low),
            one >> np.uint64(32) ^ words[3] ^ np.uint64(second),
            one & np.uint64(low),
        ]
        first, second = first + 0x9E3779B9 & low, second + 0xBB67AE85 & low
    return (np.stack(words, axis=1).reshape(-1)[:count] >> np.uint64(8)) * 2.0**-24
