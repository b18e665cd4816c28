"""y = A x for a sparse matrix in compressed rows: row i holds values[rows[i]:rows[i + 1]] in the named columns."""

import intent
import intent.language as I

SIZES = {"S": {"M": 4096, "N": 4096, "nnz": 8192}, "M": {"M": 32768, "N": 32768, "nnz": 65536}}
CASES = [{"M": 11, "N": 7, "nnz": 37}, {"M": 16, "N": 16, "nnz": 64}, {"M": 3, "N": 2, "nnz": 0}]


@intent.kernel
def sparse_product(
    rows: I.In[I.u32, ("M_plus_1",)],
    columns: I.In[I.u32, ("nnz",)],
    values: I.In[I.f64, ("nnz",)],
    x: I.In[I.f64, ("N",)],
    y: I.Out[I.f64, ("M",)],
):
    members = I.domain(0, values.shape[0])
    for i in I.parallel(I.domain(0, y.shape[0])):
        row = members[I.cast(rows[i], I.index) : I.cast(rows[i + 1], I.index)]
        y[i] = I.reduce.sum(values[row] * x[I.cast(columns[row], I.index)], axis=0)


def build(context):
    multiply = context.compile("sparse_product", sparse_product)

    def spmv(rows, columns, values, x):
        return multiply.run(rows, columns, values, x, M=rows.shape[0] - 1)

    return spmv


def inputs(rng, case):
    import numpy as np

    cuts = np.sort(rng.integers(0, case["nnz"] + 1, case["M"] - 1))
    return {
        "rows": np.array([0, *cuts, case["nnz"]], dtype=np.uint32),
        "columns": rng.integers(0, case["N"], case["nnz"]).astype(np.uint32),
        "values": rng.random(case["nnz"]),
        "x": rng.random(case["N"]),
    }


def reference(rows, columns, values, x):
    import numpy as np

    y = np.empty(len(rows) - 1)
    for i in range(len(y)):
        row = slice(rows[i], rows[i + 1])
        y[i] = values[row] @ x[columns[row]]
    return y
