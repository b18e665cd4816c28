# What is promised to be in bounds holds where there is a point, and the load needs no coordinate of one.
import intent
import intent.language as I


@intent.kernel
def k(
    x0: I.In[I.i32, ("M",)],
    x1: I.In[I.i32, ("M", "N")],
    s0: I.i32,
    y2: I.Out[I.i32, ("M", "N")],
    y3: I.Out[I.i32, ("M", "N")],
    y4: I.Out[I.i32, ("M",)],
):
    M, N = x1.shape
    m, n = I.domain(0, M), I.domain(0, N)
    for p in I.parallel(m):
        y2[p, n] = x1[p, n]
    for p, q in I.parallel((m, n)):
        at = I.cast(s0, I.index) % M
        I.assume_in_bounds(at, x0, axis=0)
        y3[p, q] = y2[p, q] - x0[at]
    for p in range(M):
        I.assume_in_bounds(M - 1, x0, axis=0)
        y4[p] = x0[M - 1] + x0[p]
