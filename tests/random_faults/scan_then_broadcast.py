import intent
import intent.language as I


@intent.fn
def combine7(a, b):
    return I.record(total=a.total + b.total, low=I.minimum(a.low, b.low))


@intent.kernel
def k(
    x0: I.In[I.f32, ("M",)],
    x1: I.In[I.bool, ("N",)],
    x4: I.In[I.i32, ("M", "N")],
    x9: I.In[I.f32, ("M", "N")],
    y11: I.Out[I.i32, ("M", "N")],
):
    M = x0.shape[0]
    m = I.domain(0, M)
    N = x1.shape[0]
    n = I.domain(0, N)
    v8 = I.reduce(
        I.record(total=x9[:, n], low=x4[m, n]), axis=1, identity=I.record(total=0.0, low=2147483647), combine=combine7
    )
    v9 = I.cumsum(v8.low[:, None], axis=0, inclusive=False)
    y11[:, n] = v9
