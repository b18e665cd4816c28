import intent
import intent.language as I


@intent.kernel
def k(x: I.In[I.f32, ()], z: I.InOut[I.f32, ("N",)]):
    n = I.domain(0, z.shape[0])
    if x[()] != x[()]:
        z[n] = I.cast(I.indices(n), I.f32)
