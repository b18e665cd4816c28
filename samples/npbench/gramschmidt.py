"""QR factors of a matrix by the modified Gram-Schmidt process; A is left with what the last projections leave of it."""

import intent
import intent.language as I

SIZES = {"S": {"M": 70, "N": 60}, "M": {"M": 220, "N": 180}}
CASES = [{"M": 21, "N": 4}, {"M": 16, "N": 8}, {"M": 1, "N": 1}]


@intent.kernel
def normalize(
    k: I.index,
    a: I.In[I.f64, ("M", "N")],
    q: I.InOut[I.f64, ("M", "N")],
    r: I.InOut[I.f64, ("N", "N")],
):
    column = a[:, k]
    length = I.sqrt(I.reduce.sum(column * column, axis=0))
    r[k, k] = length
    q[:, k] = column / length


@intent.kernel
def project(
    k: I.index,
    a: I.InOut[I.f64, ("M", "N")],
    q: I.In[I.f64, ("M", "N")],
    r: I.InOut[I.f64, ("N", "N")],
):
    later = I.domain(k + 1, a.shape[1])
    direction = q[:, k]
    columns = a[:, later]
    share = I.vecmat(direction, columns, acc_dtype=I.f64)
    r[k, later] = share
    a[:, later] = columns - direction[:, None] * share


@intent.kernel
def clear(q: I.Out[I.f64, ("M", "N")], r: I.Out[I.f64, ("N", "N")]):
    q[:, :] = 0.0
    r[:, :] = 0.0


def build(context):
    start = context.compile("clear", clear)
    unit = context.compile("normalize", normalize)
    rest = context.compile("project", project)

    def gramschmidt(a):
        q = context.empty(a.shape, I.f64)
        r = context.empty((a.shape[1], a.shape[1]), I.f64)
        start(q, r)
        for k in range(a.shape[1]):
            unit(k, a, q, r)
            if k + 1 < a.shape[1]:
                rest(k, a, q, r)
        return q, r

    return gramschmidt


def inputs(rng, case):
    return {"a": rng.standard_normal((case["M"], case["N"]))}


def reference(a):
    import numpy as np

    q, r = np.zeros_like(a), np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.linalg.norm(a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        r[k, k + 1 :] = q[:, k] @ a[:, k + 1 :]
        a[:, k + 1 :] -= np.outer(q[:, k], r[k, k + 1 :])
    return q, r
