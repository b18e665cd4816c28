import intent
import intent.language as I


@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    n = I.domain(0, N)
    for row in range(M):
        y[row, n] = I.cummax(x[row, n], axis=0, reverse=True)
