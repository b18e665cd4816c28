# The largest of values that are all one number, in a loop of single coordinates.
import intent
import intent.language as I


@intent.kernel
def k(
    x0: I.In[I.f32, ("B", "M", "N")],
    x1: I.In[I.f32, ("K",)],
    y2: I.Out[I.index, ("B", "M", "N")],
    y3: I.Out[I.f32, ("B", "M", "N")],
):
    B, M, N = x0.shape
    b, m = I.domain(0, B), I.domain(0, M)
    for p1 in b:
        v3 = I.reduce.sum(x0[p1, :, :], axis=0)
        v4 = I.full((M, N, x1.shape[0]), 1, dtype=I.i8)
        _, v6 = I.arg_reduce.max(v4, axis=-1)
        y2[p1, m, :] = v6
        y3[p1, :, :] = v3
