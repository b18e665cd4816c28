# A choice between a comparison of scalars and one of tiles, and then its opposite.
import intent
import intent.language as I


@intent.kernel
def k(x0: I.In[I.f16, ("M", "N")], x1: I.In[I.i32, ("M", "N")], y2: I.Out[I.bool, ("M", "N")], s0: I.f32):
    m, n = I.domain(0, x0.shape[0]), I.domain(0, x0.shape[1])
    for p1, p2 in I.parallel((m, n)):
        v3 = s0 >= 3.0 if I.cast(x0[p1, p2], I.bool) else 1 < x1[p1, p2] < 9
        y2[p1, p2] = not v3
