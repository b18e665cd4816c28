"""Both products of one step of the biconjugate gradient method: r A and A p."""

import intent
import intent.language as I

SIZES = {"S": {"M": 4000, "N": 5000}, "M": {"M": 10000, "N": 12500}}
CASES = [{"M": 37, "N": 5}, {"M": 16, "N": 32}, {"M": 1, "N": 1}, {"M": 0, "N": 3}]


@intent.kernel
def of_rows(a: I.In[I.f64, ("N", "M")], r: I.In[I.f64, ("N",)], out: I.Out[I.f64, ("M",)]):
    out[:] = I.vecmat(r[:], a[:, :], acc_dtype=I.f64)


@intent.kernel
def of_columns(a: I.In[I.f64, ("N", "M")], p: I.In[I.f64, ("M",)], out: I.Out[I.f64, ("N",)]):
    out[:] = I.matvec(a[:, :], p[:], acc_dtype=I.f64)


def build(context):
    rows = context.compile("of_rows", of_rows)
    columns = context.compile("of_columns", of_columns)

    def bicg(a, p, r):
        return rows.run(a, r), columns.run(a, p)

    return bicg


def inputs(rng, case):
    M, N = case["M"], case["N"]
    return {"a": rng.standard_normal((N, M)), "p": rng.standard_normal(M), "r": rng.standard_normal(N)}


def reference(a, p, r):
    return r @ a, a @ p
