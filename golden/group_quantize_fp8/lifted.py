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
            minimum_x = I.minimum(I.maximum(x_f32 * (448.0 / maximum_x), -448.0), 448.0)
            minimum_x_2 = I.minimum(I.abs(minimum_x), 448.0)
            x_term = I.bitcast(minimum_x_2, I.i32)
            out[m, g, coordinates] = (
                I.bitcast(I.cast(I.select(minimum_x == minimum_x, I.select(minimum_x_2 < 0.015625, I.bitcast(minimum_x_2 + 24576.0, I.i32) & 15, (x_term + 524287 + (x_term >> 20 & 1) >> 20) - 960), 127) | I.bitcast(minimum_x, I.i32) >> 24 & 128, I.u8), I.f8e4m3fn)
            )
