"""x1 += A y1 and x2 += A.T y2, in place."""

import intent
import intent.language as I

SIZES = {"S": {"N": 5500}, "M": {"N": 11000}}
CASES = [{"N": 37}, {"N": 32}, {"N": 1}, {"N": 0}]


@intent.kernel
def add_product(a: I.In[I.f64, ("N", "N")], y: I.In[I.f64, ("N",)], x: I.InOut[I.f64, ("N",)]):
    x[:] = x[:] + I.matvec(a[:, :], y[:], acc_dtype=I.f64)


@intent.kernel
def add_transposed(a: I.In[I.f64, ("N", "N")], y: I.In[I.f64, ("N",)], x: I.InOut[I.f64, ("N",)]):
    x[:] = x[:] + I.vecmat(y[:], a[:, :], acc_dtype=I.f64)


def build(context):
    product = context.compile("add_product", add_product)
    transposed = context.compile("add_transposed", add_transposed)

    def mvt(x1, x2, y1, y2, a):
        product(a, y1, x1)
        transposed(a, y2, x2)

    return mvt


def inputs(rng, case):
    N = case["N"]
    vectors = {name: rng.standard_normal(N) for name in ("x1", "x2", "y1", "y2")}
    return {**vectors, "a": rng.standard_normal((N, N))}


def reference(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a
