import intent
import intent.language as I


@intent.kernel
def k(
    x2: I.In[I.bf16, ("N",)],
    x6: I.In[I.bool, ("N",)],
    z6: I.InOut[I.bf16, ("N",)],
    x9: I.In[I.f32, ("N",)],
    z15: I.InOut[I.u16, ("N",)],
    y17: I.Out[I.u16, ("N",)],
):
    n = I.domain(0, x2.shape[0])
    z6[n] = x2[n] + z6[n]
    for p2 in I.parallel(n):
        if z6[p2] > I.cast(p2, I.bf16):
            z15[p2] += 100
        y17[p2] = z15[p2]
