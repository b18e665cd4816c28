"""D = alpha A B C + beta D, in place."""

import intent
import intent.language as I

SIZES = {
    "S": {"NI": 800, "NJ": 850, "NK": 900, "NL": 950},
    "M": {"NI": 2000, "NJ": 2250, "NK": 2500, "NL": 2750},
}
CASES = [
    {"NI": 19, "NJ": 37, "NK": 21, "NL": 5},
    {"NI": 16, "NJ": 16, "NK": 16, "NL": 32},
    {"NI": 1, "NJ": 1, "NK": 1, "NL": 1},
    {"NI": 3, "NJ": 0, "NK": 4, "NL": 2},
]


@intent.kernel
def product(
    alpha: I.f64,
    a: I.In[I.f64, ("NI", "NK")],
    b: I.In[I.f64, ("NK", "NJ")],
    out: I.Out[I.f64, ("NI", "NJ")],
):
    out[:, :] = alpha * I.matmul(a[:, :], b[:, :], acc_dtype=I.f64)


@intent.kernel
def add_product(
    beta: I.f64,
    ab: I.In[I.f64, ("NI", "NJ")],
    c: I.In[I.f64, ("NJ", "NL")],
    d: I.InOut[I.f64, ("NI", "NL")],
):
    d[:, :] = I.matmul(ab[:, :], c[:, :], acc_dtype=I.f64) + beta * d[:, :]


def build(context):
    first = context.compile("product", product)
    second = context.compile("add_product", add_product)

    def k2mm(alpha, beta, a, b, c, d):
        second(beta, first.run(alpha, a, b), c, d)

    return k2mm


def inputs(rng, case):
    NI, NJ, NK, NL = case["NI"], case["NJ"], case["NK"], case["NL"]
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "a": rng.standard_normal((NI, NK)),
        "b": rng.standard_normal((NK, NJ)),
        "c": rng.standard_normal((NJ, NL)),
        "d": rng.standard_normal((NI, NL)),
    }


def reference(alpha, beta, a, b, c, d):
    d[:] = alpha * a @ b @ c + beta * d
