"""Draw one class per row from unnormalised log-probabilities: the largest after adding Gumbel noise to each.

The noise of element i of row m is -log(-log(uniform)) of counter m * N + i; the draw repeats with the seed.
"""

import intent
import intent.language as I

CASES = [
    {"M": 2, "N": 19},
    {"M": 1, "N": 16},
    {"M": 1, "N": 1},
    {"M": 0, "N": 3},
    {"M": 1, "N": 0},
]
LARGE = [{"M": 37, "N": 517}]
TINY = 2.0**-25  # half a step: a uniform of zero has no logarithm


@intent.kernel
def gumbel_sampling(
    logits: I.In[I.f32, ("M", "N")],
    temperature: I.f32,
    seed: I.u64,
    out: I.Out[I.i64, ("M",)],
):
    M, N = logits.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        u = I.random.uniform(seed, m * N + I.indices(n), dtype=I.f32) + TINY
        noisy = logits[m, n] / temperature - I.log(-I.log(u))
        _, place = I.arg_reduce.max(noisy, axis=0)
        out[m] = I.cast(place, I.i64)


def reference(logits, temperature, seed):
    import numpy as np

    u = (uniform(int(seed), logits.size) + TINY).reshape(logits.shape)
    noisy = logits.astype(np.float64) / temperature - np.log(-np.log(u))
    return np.argmax(noisy, axis=1) if logits.shape[1] else np.zeros(len(logits), np.int64)


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
