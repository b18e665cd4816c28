import intent
import intent.language as I


@intent.kernel
def k(x0: I.In[I.bool, ()], x1: I.In[I.bf16, ()], x2: I.In[I.u16, ("N",)], z0: I.InOut[I.f32, ("N",)]):
    n = 0
    if x0[()] or x1[()] > x1[()]:
        z0[:] = I.cast(x2[n], I.f32)
