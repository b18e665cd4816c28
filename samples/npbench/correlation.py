"""Correlation matrix of the columns of a data matrix, which is left standardised; tiny deviations count as one."""

import intent
import intent.language as I

SIZES = {"S": {"M": 500, "N": 600}, "M": {"M": 1400, "N": 1800}}
CASES = [{"M": 11, "N": 21}, {"M": 16, "N": 16}, {"M": 1, "N": 2}]


@intent.kernel
def standardize(count: I.f64, data: I.InOut[I.f64, ("N", "M")]):
    x = data[:, :]
    centred = x - I.reduce.sum(x, axis=0) / count
    deviation = I.sqrt(I.reduce.sum(centred * centred, axis=0) / count)
    data[:, :] = centred / (I.sqrt(count) * I.select(deviation <= 0.1, 1.0, deviation))


@intent.kernel
def product(data: I.In[I.f64, ("N", "M")], out: I.Out[I.f64, ("M", "M")]):
    rows = I.domain(0, out.shape[0])
    columns = I.domain(0, out.shape[0])
    same = I.indices(rows)[:, None] == I.indices(columns)[None, :]
    products = I.matmul(data[:, rows], data[:, columns], acc_dtype=I.f64, transpose_lhs=True)
    out[rows, columns] = I.select(same, 1.0, products)


def build(context):
    first = context.compile("standardize", standardize)
    second = context.compile("product", product)

    def correlation(count, data):
        first(count, data)
        return second.run(data)

    return correlation


def inputs(rng, case):
    data = rng.standard_normal((case["N"], case["M"]))
    data[:, 0] = 0.01 * data[:, 0]
    return {"count": float(case["N"]), "data": data}


def reference(count, data):
    import numpy as np

    deviation = data.std(axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= data.mean(axis=0)
    data /= np.sqrt(count) * deviation
    out = data.T @ data
    np.fill_diagonal(out, 1.0)
    return out
