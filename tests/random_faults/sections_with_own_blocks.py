import intent
import intent.language as I


@intent.fn
def combine(a, b):
    return I.record(total=a.total + b.total, low=I.minimum(a.low, b.low))


@intent.kernel
def k(
    x: I.In[I.f32, ("N", "M")],
    t: I.In[I.i32, ("M",)],
    u: I.In[I.f32, ("N",)],
    y: I.Out[I.f32, ("M", "N")],
    z: I.Out[I.f8e5m2, ("N",)],
):
    N, M = x.shape
    n = I.domain(0, N)
    for row in I.domain(0, M):
        low = t[row] % ((I.cast(I.indices(n), I.i32) & 7) + 1)
        v = I.reduce(
            I.record(total=x[n, row], low=low),
            axis=0,
            identity=I.record(total=0.0, low=2147483647),
            combine=combine,
        )
        y[row, n] = v.total
    z[n] = I.cast(u[n], I.f8e5m2)
