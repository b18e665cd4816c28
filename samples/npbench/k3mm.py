"""(A B) (C D)."""

import intent
import intent.language as I

SIZES = {
    "S": {"NI": 800, "NJ": 850, "NK": 900, "NL": 950, "NM": 1000},
    "M": {"NI": 2000, "NJ": 2200, "NK": 2400, "NL": 2600, "NM": 2800},
}
CASES = [
    {"NI": 5, "NJ": 19, "NK": 37, "NL": 21, "NM": 3},
    {"NI": 16, "NJ": 16, "NK": 16, "NL": 16, "NM": 16},
    {"NI": 1, "NJ": 1, "NK": 1, "NL": 1, "NM": 1},
]


@intent.kernel
def product(a: I.In[I.f64, ("M", "K")], b: I.In[I.f64, ("K", "N")], out: I.Out[I.f64, ("M", "N")]):
    out[:, :] = I.matmul(a[:, :], b[:, :], acc_dtype=I.f64)


def build(context):
    times = context.compile("product", product)

    def k3mm(a, b, c, d):
        return times.run(times.run(a, b), times.run(c, d))

    return k3mm


def inputs(rng, case):
    NI, NJ, NK, NL, NM = (case[size] for size in ("NI", "NJ", "NK", "NL", "NM"))
    return {
        "a": rng.standard_normal((NI, NK)),
        "b": rng.standard_normal((NK, NJ)),
        "c": rng.standard_normal((NJ, NM)),
        "d": rng.standard_normal((NM, NL)),
    }


def reference(a, b, c, d):
    return (a @ b) @ (c @ d)
