"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def equalize_image(
    image: I.In[I.u8, ("H", "W")],
    cumulative: I.In[I.i32, (256,)],
    out: I.Out[I.u8, ("H", "W")],
):
    H, W = image.shape
    for h in I.parallel(I.domain(0, H)):
        for w in I.parallel(I.domain(0, W)):
            cumulative_value = cumulative[0]
            maximum_cumulative = I.maximum(cumulative[255] - cumulative_value, 1)
            cumulative_term = maximum_cumulative // 2
            cumulative_term_2 = maximum_cumulative < 0
            cumulative_term_3 = maximum_cumulative % 2
            cumulative_term_4 = (cumulative_term_3 != 0) & cumulative_term_2
            cumulative_term_5 = I.select(cumulative_term_4, cumulative_term + 1, cumulative_term)
            image_value = I.cast(image[h, w], I.index)
            cumulative_term_6 = (
                (I.gather(cumulative, (image_value,), valid=image_value < 256, fill=0) - cumulative_value) * 255
                + I.select((I.cast(I.select(cumulative_term_4, cumulative_term_3 - 2, cumulative_term_3), I.index) != 0) & (I.cast(maximum_cumulative ^ 2, I.index) < 0), cumulative_term_5 - 1, cumulative_term_5)
            )
            cumulative_term_7 = cumulative_term_6 // maximum_cumulative
            cumulative_term_8 = cumulative_term_6 % maximum_cumulative
            cumulative_term_9 = (cumulative_term_8 != 0) & ((cumulative_term_6 < 0) ^ cumulative_term_2)
            cumulative_term_10 = I.select(cumulative_term_9, cumulative_term_7 + 1, cumulative_term_7)
            out[h, w] = (
                I.cast(I.select((I.cast(I.select(cumulative_term_9, cumulative_term_8 - maximum_cumulative, cumulative_term_8), I.index) != 0) & (I.cast(cumulative_term_6 ^ maximum_cumulative, I.index) < 0), cumulative_term_10 - 1, cumulative_term_10), I.u8)
            )
