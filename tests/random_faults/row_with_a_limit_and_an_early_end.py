# Beyond the limit of the row, carries along it are in memory; the flag of a loop in parallel points of as many is none.
import intent
import intent.language as I


@intent.fn
def helper4(a, b):
    return I.record(total=a.total + b.total, low=I.minimum(a.low, b.low))


@intent.fn
def helper9(v, stop):
    j_ = I.cast(0, I.i32)
    for j in range(3):
        if stop and j > 0:
            break
        v = v * 2.0
        j_ += 1
    return (v, j_)


@intent.kernel
def k(
    x0: I.In[I.f32, ("M",)],
    x1: I.In[I.i32, ("N",)],
    x3: I.In[I.f32, ("M", "N")],
    x6: I.In[I.bool, ("M", "N")],
    y12: I.Out[I.i32, ("M", "N")],
    y14: I.Out[I.f16, ("M", "N")],
):
    M = x0.shape[0]
    m = I.domain(0, M)
    N = x1.shape[0]
    n = I.domain(0, N)
    for p1 in m:
        c2 = I.gather(x1, (n,), valid=I.indices(n) >= 0, fill=3)
        for _ in range(3):
            c2 = I.cast(I.indices(n), I.i32)
        v5 = I.reduce(
            I.record(total=x3[p1, n], low=c2), axis=0, identity=I.record(total=0.0, low=2147483647), combine=helper4
        )
        y12[p1, :] = v5.low
    for p7 in m:
        for p8 in I.parallel(n):
            v10, _ = helper9(I.cast(2.0, I.f16), x6[p7, p8])
            y14[p7, p8] = v10
