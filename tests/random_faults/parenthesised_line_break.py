import intent
import intent.language as I


@intent.kernel
def k(x: I.In[I.f16, ("M", "N")], y: I.Out[I.f16, ("M", "N")]):
    M, N = x.shape
    for p1, p2 in I.parallel((I.domain(0, M), I.domain(0, N))):
        y[p1, p2] = -x[p1, p2] - 1.0 / x[p1, p2]
