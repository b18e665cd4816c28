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
            image_value = I.cast(image[h, w], I.index)
            out[h, w] = I.cast(
                (
                    (I.gather(cumulative, (image_value,), valid=image_value < 256, fill=0) - cumulative_value) * 255
                    + maximum_cumulative // 2
                )
                // maximum_cumulative,
                I.u8,
            )
