"""Matrix product of e4m3 operands with one e8m0 scale for every 32 elements along the contracted axis, all as bytes."""

import intent
import intent.language as I

CASES = [
    {"M": 5, "G": 3, "N": 19},
    {"M": 16, "G": 2, "N": 32},
    {"M": 1, "G": 1, "N": 1},
    {"M": 0, "G": 1, "N": 3},
    {"M": 3, "G": 0, "N": 2},
]
LARGE = [{"M": 131, "G": 17, "N": 259}]


@intent.kernel
def scaled_matmul(
    a: I.In[I.u8, ("M", "G", 32)],
    a_scale: I.In[I.u8, ("M", "G")],
    b: I.In[I.u8, ("G", 32, "N")],
    b_scale: I.In[I.u8, ("N", "G")],
    c: I.Out[I.f32, ("M", "N")],
):
    c[:, :] = I.scaled_matmul(
        a[:, :, :],
        a_scale[:, :],
        b[:, :, :],
        b_scale[:, :],
        lhs_format=I.e4m3,
        rhs_format=I.e4m3,
        group_size=32,
        acc_dtype=I.f32,
    )


def inputs(rng, case):
    finite = [code for code in range(256) if code & 127 != 127]
    return {
        "a": rng.choice(finite, (case["M"], case["G"], 32)),
        "b": rng.choice(finite, (case["G"], 32, case["N"])),
        "a_scale": rng.integers(117, 138, (case["M"], case["G"])),
        "b_scale": rng.integers(117, 138, (case["N"], case["G"])),
    }


def reference(a, a_scale, b, b_scale):
    import ml_dtypes
    import numpy as np

    left = a.view(ml_dtypes.float8_e4m3fn).astype(np.float64) * 2.0 ** (a_scale[:, :, None].astype(np.float64) - 127)
    right = b.view(ml_dtypes.float8_e4m3fn).astype(np.float64) * 2.0 ** (b_scale.T[:, None, :].astype(np.float64) - 127)
    return np.einsum("mgc,gcn->mn", left, right).astype(np.float32)
