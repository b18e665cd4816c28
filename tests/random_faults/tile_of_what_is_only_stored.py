import intent
import intent.language as I


@intent.fn
def helper9(a, b):
    return a + b


@intent.kernel
def k(
    x1: I.In[I.f32, ("M", "N")],
    x5: I.In[I.i32, ("K",)],
    y6: I.Out[I.i32, ("M", "K", "N")],
    y10: I.Out[I.f32, ("M", "N")],
):
    n = I.domain(0, x1.shape[1])
    k = I.domain(0, x5.shape[0])
    for p1 in I.parallel(I.domain(0, x1.shape[0])):
        v7 = I.reduce.max(x1[p1, n], axis=0)
        y6[p1, k, n] = (
            I.full((x5.shape[0], x1.shape[1]), 0, dtype=I.i32)
            + I.scan(x5[k], axis=0, identity=0, combine=helper9, inclusive=False)[:, None]
        )
        y10[p1, n] = I.cast(I.select(v7 == x1[p1, n], 1.0, 0.5), I.f32)
