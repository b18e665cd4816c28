import intent
import intent.language as I


@intent.kernel
def k(
    x0: I.In[I.f32, ("N",)],
    x1: I.In[I.f32, ()],
    z2: I.InOut[I.u8, ("M", "N")],
):
    n = I.domain(0, x0.shape[0])
    for m in I.parallel(I.domain(0, z2.shape[0])):
        if I.cast(x1[()], I.bool):
            z2[m, n] = 7
