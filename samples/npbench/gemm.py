"""C = alpha A B + beta C, in place."""

import intent
import intent.language as I

SIZES = {"S": {"NI": 1000, "NJ": 1100, "NK": 1200}, "M": {"NI": 2500, "NJ": 2750, "NK": 3000}}
CASES = [
    {"NI": 19, "NJ": 37, "NK": 21},
    {"NI": 16, "NJ": 32, "NK": 16},
    {"NI": 1, "NJ": 1, "NK": 1},
    {"NI": 3, "NJ": 4, "NK": 0},
]


@intent.kernel
def gemm(
    alpha: I.f64,
    beta: I.f64,
    c: I.InOut[I.f64, ("NI", "NJ")],
    a: I.In[I.f64, ("NI", "NK")],
    b: I.In[I.f64, ("NK", "NJ")],
):
    c[:, :] = alpha * I.matmul(a[:, :], b[:, :], acc_dtype=I.f64) + beta * c[:, :]


def inputs(rng, case):
    NI, NJ, NK = case["NI"], case["NJ"], case["NK"]
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "c": rng.standard_normal((NI, NJ)),
        "a": rng.standard_normal((NI, NK)),
        "b": rng.standard_normal((NK, NJ)),
    }


def reference(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c
