"""One step of Adafactor for a matrix: second moments kept as a row and a column of averages, not per element.

Three kernels: the averages of squared gradients along rows and along columns, then the update that takes their
rank-one product as the second moment. The mean of the row averages normalises the product.
"""

import intent
import intent.language as I

FLOOR = 1e-30


@intent.kernel
def row_moments(
    gradient: I.In[I.f32, ("M", "N")],
    decay: I.f32,
    rows: I.InOut[I.f32, ("M",)],
):
    M, N = gradient.shape
    n = I.domain(0, N)
    for m in I.parallel(I.domain(0, M)):
        g = gradient[m, n]
        mean = I.reduce.sum(g * g + FLOOR, axis=0) / I.cast(N, I.f32)
        rows[m] = decay * rows[m] + (1.0 - decay) * mean


@intent.kernel
def column_moments(
    gradient: I.In[I.f32, ("M", "N")],
    decay: I.f32,
    columns: I.InOut[I.f32, ("N",)],
):
    g = gradient[:, :]
    mean = I.reduce.sum(g * g + FLOOR, axis=0) / I.cast(gradient.shape[0], I.f32)
    columns[:] = decay * columns[:] + (1.0 - decay) * mean


@intent.kernel
def factored_step(
    parameter: I.InOut[I.f32, ("M", "N")],
    gradient: I.In[I.f32, ("M", "N")],
    rows: I.In[I.f32, ("M",)],
    columns: I.In[I.f32, ("N",)],
    rate: I.f32,
):
    M, N = parameter.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    mean = I.reduce.sum(rows[:], axis=0) / I.cast(M, I.f32)
    moment = rows[m][:, None] * columns[n][None, :] / mean
    parameter[m, n] -= rate * gradient[m, n] * I.rsqrt(moment)


def inputs(rng, case):
    import numpy as np

    rows = rng.uniform(0.5, 1.5, case["M"]).astype(np.float32)
    columns = rng.uniform(0.5, 1.5, case["N"]).astype(np.float32)
    return {"rows": rows, "columns": columns}


FINITE = ["rows", "columns"]


def row_moments_reference(gradient, decay, rows):
    import numpy as np

    mean = np.sum(gradient.astype(np.float64) ** 2 + FLOOR, axis=1) / np.float64(gradient.shape[1])
    return (decay * rows + (1.0 - decay) * mean).astype(np.float32)


def column_moments_reference(gradient, decay, columns):
    import numpy as np

    mean = np.sum(gradient.astype(np.float64) ** 2 + FLOOR, axis=0) / np.float64(gradient.shape[0])
    return (decay * columns + (1.0 - decay) * mean).astype(np.float32)


def factored_step_reference(parameter, gradient, rows, columns, rate):
    import numpy as np

    mean = np.sum(rows.astype(np.float64)) / np.float64(rows.size)
    moment = rows[:, None].astype(np.float64) * columns[None, :] / mean
    return (parameter - rate * gradient / np.sqrt(moment)).astype(np.float32)
