# A promise about a value that only a loop makes which nothing else depends on.
import intent
import intent.language as I


@intent.kernel
def k(x0: I.In[I.f32, ("M",)], x1: I.In[I.f32, ("N",)], z2: I.InOut[I.i32, ("M", "N")], x8: I.In[I.i32, ("M",)]):
    M = x0.shape[0]
    m = I.domain(0, M)
    N = x1.shape[0]
    for p1 in m:
        c5 = I.cast(0, I.i32)
        for j4 in range(N):
            c5 = z2[p1, j4]
        place8 = I.maximum(I.minimum(I.cast(c5, I.index), M - 1), 0)
        I.assume_in_bounds(place8, x8, axis=0)
        z2[p1, :] = 7
