"""A += u1 v1.T + u2 v2.T, then x += beta A.T y + z and w += alpha A x, in place.

The first kernel updates A and multiplies what it has just computed, so that A is read twice, not three times.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 1000}, "M": {"N": 3000}}
CASES = [{"N": 37}, {"N": 16}, {"N": 1}, {"N": 0}]


@intent.kernel
def update(
    a: I.InOut[I.f64, ("M", "N")],
    u1: I.In[I.f64, ("M",)],
    v1: I.In[I.f64, ("N",)],
    u2: I.In[I.f64, ("M",)],
    v2: I.In[I.f64, ("N",)],
    x: I.InOut[I.f64, ("N",)],
    y: I.In[I.f64, ("M",)],
    z: I.In[I.f64, ("N",)],
    beta: I.f64,
):
    updated = a[:, :] + I.outer(u1[:], v1[:]) + I.outer(u2[:], v2[:])
    a[:, :] = updated
    x[:] = x[:] + beta * I.vecmat(y[:], updated, acc_dtype=I.f64) + z[:]


@intent.kernel
def product(a: I.In[I.f64, ("N", "N")], x: I.In[I.f64, ("N",)], w: I.InOut[I.f64, ("N",)], alpha: I.f64):
    w[:] = w[:] + alpha * I.matvec(a[:, :], x[:], acc_dtype=I.f64)


def build(context):
    first = context.compile("update", update)
    second = context.compile("product", product)

    def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
        first(a, u1, v1, u2, v2, x, y, z, beta)
        second(a, x, w, alpha)

    return gemver


def inputs(rng, case):
    N = case["N"]
    vectors = {name: rng.standard_normal(N) for name in ("u1", "v1", "u2", "v2", "w", "x", "y", "z")}
    return {"alpha": 1.5, "beta": 1.2, "a": rng.standard_normal((N, N)), **vectors}


def reference(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    import numpy as np

    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * (y @ a) + z
    w += alpha * (a @ x)
