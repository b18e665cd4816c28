"""y = A.T (A x)."""

import intent
import intent.language as I

SIZES = {"S": {"M": 4000, "N": 5000}, "M": {"M": 10000, "N": 12500}}
CASES = [{"M": 5, "N": 37}, {"M": 32, "N": 16}, {"M": 1, "N": 1}, {"M": 3, "N": 0}]


@intent.kernel
def product(a: I.In[I.f64, ("M", "N")], x: I.In[I.f64, ("N",)], out: I.Out[I.f64, ("M",)]):
    out[:] = I.matvec(a[:, :], x[:], acc_dtype=I.f64)


@intent.kernel
def transposed_product(a: I.In[I.f64, ("M", "N")], x: I.In[I.f64, ("M",)], out: I.Out[I.f64, ("N",)]):
    out[:] = I.vecmat(x[:], a[:, :], acc_dtype=I.f64)


def build(context):
    forward = context.compile("product", product)
    back = context.compile("transposed_product", transposed_product)

    def atax(a, x):
        return back.run(a, forward.run(a, x))

    return atax


def inputs(rng, case):
    return {"a": rng.standard_normal((case["M"], case["N"])), "x": rng.standard_normal(case["N"])}


def reference(a, x):
    return (a @ x) @ a
