import intent
import intent.language as I


@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], t: I.InOut[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    M, N = x.shape
    n = I.domain(0, N)
    for p, q in I.parallel((I.domain(0, M), n)):
        t[p, q] = 1.0
    for row in I.parallel(I.domain(0, M)):
        c = x[row, n]
        step = I.cast(0, I.index)
        while step < 3:
            c = 5.0 + c
            step = step + 1
        y[row, n] = c + t[row, N - 1 - I.indices(n)]
