"""alpha A x + beta B x."""

import intent
import intent.language as I

SIZES = {"S": {"N": 2000}, "M": {"N": 4000}}
CASES = [{"N": 37}, {"N": 32}, {"N": 1}, {"N": 0}]


@intent.kernel
def gesummv(
    alpha: I.f64,
    beta: I.f64,
    a: I.In[I.f64, ("N", "N")],
    b: I.In[I.f64, ("N", "N")],
    x: I.In[I.f64, ("N",)],
    out: I.Out[I.f64, ("N",)],
):
    v = x[:]
    out[:] = alpha * I.matvec(a[:, :], v, acc_dtype=I.f64) + beta * I.matvec(b[:, :], v, acc_dtype=I.f64)


def inputs(rng, case):
    N = case["N"]
    a, b = rng.standard_normal((2, N, N))
    return {"alpha": 1.5, "beta": 1.2, "a": a, "b": b, "x": rng.standard_normal(N)}


def reference(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x
