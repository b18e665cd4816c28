"""Product with four-bit weights, two in a byte, the low half first; a scale and a zero point per column and group.

The weights are decoded on the way to the product; x and the result are f16.
"""

import intent
import intent.language as I

GROUP = 32

CASES = [
    {"M": 5, "N": 19, "G": 3},
    {"M": 16, "N": 16, "G": 2},
    {"M": 1, "N": 1, "G": 1},
    {"M": 0, "N": 4, "G": 2},
    {"M": 3, "N": 4, "G": 0},
]
LARGE = [{"M": 131, "N": 259, "G": 5}]


@intent.kernel
def int4_gemm(
    x: I.In[I.f16, ("M", "G", GROUP)],
    packed: I.In[I.u8, ("N", "G", GROUP // 2)],
    scale: I.In[I.f16, ("N", "G")],
    zero: I.In[I.u8, ("N", "G")],
    out: I.Out[I.f16, ("M", "N")],
):
    M, G, _ = x.shape
    N = packed.shape[0]
    m = I.domain(0, M)
    n = I.domain(0, N)
    k = I.domain(0, GROUP)
    groups = I.domain(0, G)
    byte = packed[n, groups, I.indices(k) // 2]
    quantum = I.select(I.indices(k) % 2 == 0, byte & 15, byte >> 4)
    centred = I.cast(quantum, I.f16) - I.cast(zero[n, groups], I.f16)[:, :, None]
    weight = centred * scale[n, groups][:, :, None]
    total = I.contract(x[m, groups, k], weight, reduce=((1, 1), (2, 2)), acc_dtype=I.f32)
    out[m, n] = I.cast(total, I.f16)


def inputs(rng, case):
    import numpy as np

    scale = rng.uniform(0.01, 0.1, (case["N"], case["G"])).astype(np.float16)
    return {"scale": scale, "zero": rng.integers(0, 16, (case["N"], case["G"]))}


FINITE = ["x", "scale"]


def reference(x, packed, scale, zero):
    import numpy as np

    quanta = np.stack([packed & 15, packed >> 4], axis=3).reshape(packed.shape[0], packed.shape[1], GROUP)
    weight = (quanta.astype(np.float16) - zero[:, :, None].astype(np.float16)) * scale[:, :, None]
    return np.einsum("mgk,ngk->mn", x.astype(np.float64), weight.astype(np.float64)).astype(np.float16)
