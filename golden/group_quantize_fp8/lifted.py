"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def group_quantize_fp8(
    x: I.In[I.bf16, ("M", "G", 32)],
    out: I.Out[I.f8e4m3fn, ("M", "G", 32)],
    scale: I.Out[I.f32, ("M", "G")],
):
    M = x.shape[0]
    G = x.shape[1]
    coordinates = I.domain(0, 32)
    for m in I.parallel(I.domain(0, M)):
        for g in I.parallel(I.domain(0, G)):
            x_f32 = I.cast(x[m, g, coordinates], I.f32)
            x_max = I.reduce.max(I.abs(x_f32), axis=0)
            maximum_x = I.maximum(x_max, 1e-10)
            scale[m, g] = maximum_x / 448.0
            out[m, g, coordinates] = I.cast(
                I.minimum(I.maximum(x_f32 * (448.0 / maximum_x), -448.0), 448.0), I.f8e4m3fn
            )
