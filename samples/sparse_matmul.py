"""2:4 sparse weights times dense activations: each group of four keeps two elements, whose positions share a byte."""

import intent
import intent.language as I

CASES = [
    {"M": 5, "G": 11, "H": 22, "K": 44, "N": 19},
    {"M": 16, "G": 8, "H": 16, "K": 32, "N": 16},
    {"M": 1, "G": 1, "H": 2, "K": 4, "N": 1},
    {"M": 3, "G": 0, "H": 0, "K": 0, "N": 2},
]
LARGE = [{"M": 131, "G": 67, "H": 134, "K": 268, "N": 259}]


@intent.kernel
def sparse_matmul(
    kept: I.In[I.f16, ("M", "H")],
    places: I.In[I.u8, ("M", "G")],
    x: I.In[I.f16, ("K", "N")],
    y: I.Out[I.f16, ("M", "N")],
):
    packed = places[:, :]
    metadata = I.record(first=I.cast(packed & 3, I.index), second=I.cast(packed >> 2, I.index))
    y[:, :] = I.cast(I.sparse_contract_2to4(kept[:, :], metadata, x[:, :], acc_dtype=I.f32), I.f16)


def inputs(rng, case):
    import numpy as np

    pairs = np.array([first + 4 * second for second in range(4) for first in range(second)])
    return {"places": rng.choice(pairs, (case["M"], case["G"]))}


def reference(kept, places, x):
    import numpy as np

    weights = np.zeros((*places.shape, 4))
    np.put_along_axis(weights, (places & 3)[..., None].astype(int), kept[:, 0::2, None].astype(float), 2)
    np.put_along_axis(weights, (places >> 2)[..., None].astype(int), kept[:, 1::2, None].astype(float), 2)
    return (weights.reshape(kept.shape[0], -1) @ x.astype(np.float64)).astype(np.float16)
