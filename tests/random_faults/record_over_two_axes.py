# A reduction by records over two axes, of which one is on chip.
import intent
import intent.language as I


@intent.fn
def helper2(a, b):
    return I.record(low=I.minimum(a.low, b.low), where=I.maximum(a.where, b.where))


@intent.kernel
def k(
    x1: I.In[I.i32, ("K", "N")],
    x2: I.In[I.f32, ("N",)],
    y10: I.Out[I.i32, ("N",)],
    y11: I.Out[I.f32, ("N",)],
):
    K = x1.shape[0]
    k = I.domain(0, K)
    N = x1.shape[1]
    n = I.domain(0, N)
    v1 = x1[k, n]
    v3 = I.reduce(
        I.record(low=v1, where=I.select(v1 > 2, I.cast(I.indices(k), I.i32)[:, None], -1)),
        axis=(0, 1),
        identity=I.record(low=I.cast(2147483647, I.i32), where=I.cast(-1, I.i32)),
        combine=helper2,
    )
    y11[n] = I.cumsum(x2[n], axis=0)
    y10[n] = -(v3.low**2) + v3.where
