"""A[r, q, :] = A[r, q, :] C4 for every pair (r, q), through another array: every result needs a whole row of A."""

import intent
import intent.language as I

SIZES = {"S": {"NR": 60, "NQ": 60, "NP": 128}, "M": {"NR": 110, "NQ": 125, "NP": 256}}
CASES = [{"NR": 3, "NQ": 5, "NP": 19}, {"NR": 2, "NQ": 8, "NP": 16}, {"NR": 1, "NQ": 1, "NP": 1}]


@intent.kernel
def product(
    a: I.In[I.f64, ("NR", "NQ", "NP")],
    c4: I.In[I.f64, ("NP", "NP")],
    out: I.Out[I.f64, ("NR", "NQ", "NP")],
):
    out[:, :, :] = I.matmul(a[:, :, :], c4[:, :], acc_dtype=I.f64)


@intent.kernel
def copy(x: I.In[I.f64, ("NR", "NQ", "NP")], out: I.Out[I.f64, ("NR", "NQ", "NP")]):
    out[:, :, :] = x[:, :, :]


def build(context):
    times = context.compile("product", product)
    into = context.compile("copy", copy)

    def doitgen(a, c4):
        into(times.run(a, c4), a)

    return doitgen


def inputs(rng, case):
    return {
        "a": rng.standard_normal((case["NR"], case["NQ"], case["NP"])),
        "c4": rng.standard_normal((case["NP"], case["NP"])),
    }


def reference(a, c4):
    a[:] = a @ c4
