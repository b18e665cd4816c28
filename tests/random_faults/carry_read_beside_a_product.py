# A product wants 16 lanes of an axis of 8, along which a carry is read under another name.
import intent
import intent.language as I


@intent.kernel
def k(
    x0: I.In[I.f64, ("M", 8)],
    x1: I.In[I.i32, ()],
    x2: I.In[I.f32, ("M", 8)],
    x5: I.In[I.f32, (8, "M")],
    low6: I.In[I.index, (4, "M")],
    high7: I.In[I.index, (4, "M")],
    x8: I.In[I.f32, (8, 16)],
    x10: I.In[I.f32, ()],
    x11: I.In[I.bool, ("M", 8)],
    y12: I.Out[I.bool, ("M", 8)],
):
    M = x0.shape[0]
    m = I.domain(0, M)
    static8 = I.domain(0, 8)
    r1 = I.record(value=I.cast(x0[m, :], I.f32), count=x1[()])
    for _ in range(1):
        r1 = I.record(value=x2[m, static8], count=r1.count)
    v3 = I.cummax(r1.value, axis=1, inclusive=False)
    v7 = I.sparse_contract(
        x5[:, m],
        I.record(first=low6[:, m], second=high7[:, m]),
        x8[static8, :],
        format=I.sparse.two_of_four(compression_axis=0, logical_extent=16),
        reduce=((0, 1),),
        acc_dtype=I.f32,
    )
    y12[m, :] = x10[()] != I.select(x11[m, static8], v7, v3)
