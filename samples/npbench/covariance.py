"""Covariance matrix of the columns of a data matrix, which is left with its means taken away."""

import intent
import intent.language as I

SIZES = {"S": {"M": 500, "N": 600}, "M": {"M": 1400, "N": 1800}}
CASES = [{"M": 11, "N": 21}, {"M": 16, "N": 16}, {"M": 1, "N": 2}]


@intent.kernel
def centre(count: I.f64, data: I.InOut[I.f64, ("N", "M")]):
    x = data[:, :]
    data[:, :] = x - I.reduce.sum(x, axis=0) / count


@intent.kernel
def product(count: I.f64, data: I.In[I.f64, ("N", "M")], out: I.Out[I.f64, ("M", "M")]):
    out[:, :] = I.matmul(data[:, :], data[:, :], acc_dtype=I.f64, transpose_lhs=True) / (count - 1.0)


def build(context):
    first = context.compile("centre", centre)
    second = context.compile("product", product)

    def covariance(count, data):
        first(count, data)
        return second.run(count, data)

    return covariance


def inputs(rng, case):
    return {"count": float(case["N"]), "data": rng.standard_normal((case["N"], case["M"]))}


def reference(count, data):
    data -= data.mean(axis=0)
    return data.T @ data / (count - 1.0)
