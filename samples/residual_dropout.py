"""out = residual + dropout(x): element i is kept where the counter generator draws at least p for counter i.

Nothing is stored for the backward pass: the same seed and counters give the same mask again.
"""

import intent
import intent.language as I


@intent.kernel
def residual_dropout(
    x: I.In[I.f32, ("M", "N")],
    residual: I.In[I.f32, ("M", "N")],
    p: I.f32,
    seed: I.u64,
    out: I.Out[I.f32, ("M", "N")],
):
    M, N = x.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        kept = I.random.uniform(seed, m * N + I.indices(n), dtype=I.f32) >= p
        out[m, n] = residual[m, n] + I.select(kept, x[m, n] / (1.0 - p), 0.0)


@intent.kernel
def residual_dropout_backward(
    dy: I.In[I.f32, ("M", "N")],
    p: I.f32,
    seed: I.u64,
    dx: I.Out[I.f32, ("M", "N")],
):
    M, N = dy.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        kept = I.random.uniform(seed, m * N + I.indices(n), dtype=I.f32) >= p
        dx[m, n] = I.select(kept, dy[m, n] / (1.0 - p), 0.0)


def uniform(seed, count):
    """Philox4x32-10: counter i takes word i % 4 of block i // 4; the upper 24 bits make a number in [0, 1)."""
    import numpy as np

    low = np.uint64(0xFFFFFFFF)
    block = np.arange(-(-count // 4), dtype=np.uint64)
    zero = np.zeros_like(block)
    words = [block & low, block >> np.uint64(32), zero, zero]
    keys = [int(seed) & 0xFFFFFFFF, int(seed) >> 32]
    for _ in range(10):
        first = np.uint64(0xD2511F53) * words[0]
        second = np.uint64(0xCD9E8D57) * words[2]
        words = [
            second >> np.uint64(32) ^ words[1] ^ np.uint64(keys[0]),
            second & low,
            first >> np.uint64(32) ^ words[3] ^ np.uint64(keys[1]),
            first & low,
        ]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    bits = np.stack(words, axis=1).reshape(-1)[:count]
    return (bits >> np.uint64(8)).astype(np.float32) * np.float32(2.0**-24)


def residual_dropout_reference(x, residual, p, seed):
    import numpy as np

    kept = uniform(seed, x.size).reshape(x.shape) >= p
    return residual + np.where(kept, x / (np.float32(1.0) - p), np.float32(0.0))


def residual_dropout_backward_reference(dy, p, seed):
    import numpy as np

    kept = uniform(seed, dy.size).reshape(dy.shape) >= p
    return np.where(kept, dy / (np.float32(1.0) - p), np.float32(0.0))
