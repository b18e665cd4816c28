import intent
import intent.language as I


@intent.fn
def helper7(a, b):
    return I.record(total=a.total + b.total, count=a.count + b.count, first=I.select(a.count > 0, a.first, b.first))


@intent.fn
def one_(v):
    return I.select(v == v, I.cast(1, I.i32), I.cast(1, I.i32))


@intent.kernel
def k(
    x0: I.In[I.f32, ("M",)],
    x1: I.In[I.f32, ("N",)],
    x2: I.In[I.f8e4m3fn, ("M", "N")],
    x4: I.In[I.bool, ("M",)],
    x5: I.In[I.f32, ("K",)],
    x6: I.In[I.i32, ("M", "N", "K")],
    at7: I.In[I.i32, ("K",)],
    y8: I.Out[I.i32, ("M", "N", "K")],
    y9: I.Out[I.i32, ("M", "N")],
    y10: I.Out[I.u8, ("M", "N")],
    y11: I.Out[I.index, ("M",)],
    y13: I.Out[I.f32, ("M", "N")],
    s0: I.bool,
):
    M = x0.shape[0]
    m = I.domain(0, M)
    N = x1.shape[0]
    n = I.domain(0, N)
    K = x5.shape[0]
    k = I.domain(0, K)
    for p1 in I.parallel(m):
        for p2 in I.parallel(n):
            v3 = I.bitcast(x2[p1, p2], I.u8)
            v6 = (
                I.minimum(
                    x6[p1, p2, :],
                    I.gather(
                        x6,
                        (p1, p2, I.cast(at7[k], I.index)),
                        valid=(I.cast(at7[k], I.index) >= 0) & (I.cast(at7[k], I.index) < K),
                    ),
                )
                - (x6[p1, p2, (I.indices(k) + 1) % K] ^ x6[p1, p2, k])
                & 15
            )
            v8 = I.scan(
                I.record(total=v6, count=one_(v6), first=v6),
                axis=0,
                identity=I.record(total=I.cast(0, I.i32), count=I.cast(0, I.i32), first=I.cast(0, I.i32)),
                combine=helper7,
                inclusive=False,
            )
            v9 = I.reduce.max(v8.total, axis=0)
            y8[p1, p2, k] = v8.count
            v10 = I.reduce.max(v8.first, axis=0)
            y9[p1, p2] = v9 * v9 * v10 // ((I.select(s0 and x4[p1], I.minimum(v9, v10), v9 * v10) & 7) + 1)
            y10[p1, p2] = v3 * 3
    for p11 in I.parallel(m):
        v12 = y10[p11, n] & 15
        _, v14 = I.arg_reduce.max(v12, axis=-1)
        y11[p11] = v14
        v17 = x1[n]
        w19 = v17
        w20 = I.reduce.sum(w19, axis=0)
        y13[p11, n] = w20
