import intent
import intent.language as I


@intent.kernel
def k(x: I.In[I.i32, ("M", "N")], y: I.Out[I.i32, ("M", "N")]):
    M, N = x.shape
    n = I.domain(0, N)
    for row in I.parallel(I.domain(0, M)):
        v = I.cummax(I.select(I.full((N,), False, dtype=I.bool), x[row, n], I.full((N,), -5, dtype=I.i32)), axis=0)
        y[row, n] = I.cast(I.select(x[row, :] >= v, 1, 2), I.i32)
