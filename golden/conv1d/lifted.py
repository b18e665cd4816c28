"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def conv1d(
    x: I.In[I.f16, ("B", "C", "T")],
    weight: I.In[I.f16, ("F", "C", 3)],
    bias: I.In[I.f32, ("F",)],
    out: I.Out[I.f16, ("B", "F", "U")],
):
    B, C, T = x.shape
    F = weight.shape[0]
    U = out.shape[2]
    f = I.domain(0, F)
    c = I.domain(0, C)
    coordinates = I.domain(0, 3)
    b = I.domain(0, B)
    for u in I.parallel(I.domain(0, U)):
        product = I.contract(
            weight[f, c, coordinates],
            I.gather(
                x, (b, c, I.indices(coordinates) * 3 + u * 2), valid=I.indices(coordinates) * 3 + u * 2 < T, fill=0.0
            ),
            reduce=((2, 2), (1, 1)),
            acc_dtype=I.f32,
        )
        out[b, f, u] = I.cast(I.transpose(product, (1, 0)) + bias[f], I.f16)
