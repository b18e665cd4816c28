import intent
import intent.language as I


@intent.kernel
def k(x: I.In[I.i32, ("M", 8)], v: I.In[I.bf16, ("M", 8)], z: I.InOut[I.bf16, (8,)]):
    m = I.domain(0, x.shape[0])
    static = I.domain(0, 8)
    sums = I.cumsum(x[m, static], axis=1, inclusive=False)
    I.atomic.min(z, (sums & 7,), v[m, static], order="acquire")
