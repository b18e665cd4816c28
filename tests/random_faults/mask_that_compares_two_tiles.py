# A comparison of two tiles of one axis that stands in a tile of two.
import intent
import intent.language as I


@intent.kernel
def k(
    x0: I.In[I.i32, ("M", 8)],
    x1: I.In[I.i32, ("M",)],
    x2: I.In[I.bool, ("M",)],
    y3: I.Out[I.i32, ("M", 8)],
):
    m = I.domain(0, x0.shape[0])
    y3[m, :] = I.select((x2[m] == ((x1[m] > 1) & (x1[m] < 9)))[:, None], x0[m, :], -x0[m, :])
