"""Mean and variance of every row in one pass, merging (count, mean, squared deviation) records pairwise."""

import intent
import intent.language as I


@intent.fn
def merge(lhs, rhs):
    count = lhs.count + rhs.count
    difference = rhs.mean - lhs.mean
    share = rhs.count / I.maximum(count, 1.0)
    return I.record(
        count=count,
        mean=lhs.mean + difference * share,
        deviation=lhs.deviation + rhs.deviation + difference * difference * lhs.count * share,
    )


@intent.kernel
def welford(
    x: I.In[I.f32, ("M", "N")],
    mean: I.Out[I.f32, ("M",)],
    variance: I.Out[I.f32, ("M",)],
):
    M, N = x.shape
    columns = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = x[row, columns]
        total = I.reduce(
            I.record(count=I.full((N,), 1.0, dtype=I.f32), mean=v, deviation=I.zeros((N,), dtype=I.f32)),
            axis=0,
            identity=I.record(count=0.0, mean=0.0, deviation=0.0),
            combine=merge,
        )
        mean[row] = total.mean
        variance[row] = total.deviation / I.maximum(total.count, 1.0)


def reference(x):
    import numpy as np

    v = x.astype(np.float64)
    count = max(x.shape[1], 1)
    mean = np.sum(v, axis=1) / count
    variance = np.sum((v - mean[:, None]) ** 2, axis=1) / count
    return mean.astype(np.float32), variance.astype(np.float32)
