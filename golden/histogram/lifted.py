"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def histogram(
    x: I.In[I.f32, ("N",)],
    counts: I.Out[I.i32, ("B",)],
    low: I.f32,
    high: I.f32,
):
    N = x.shape[0]
    B = counts.shape[0]
    n = I.domain(0, N)
    b = I.domain(0, B)
    x_values = x[n]
    x_term = x_values <= high
    x_term_2 = x_values >= low
    x_term_3 = (x_values - low) * (I.cast(B, I.f32) / (high - low))
    counts[b] = I.reduce.sum(
        I.cast(
            (
                I.minimum(
                    B - 1,
                    I.cast(
                        I.cast(
                            I.select(
                                x_term_2 & x_term,
                                I.select((x_term_3 < 0.0) & (x_term_3 > -1.0), -1.0, I.floor(x_term_3)),
                                0.0,
                            ),
                            I.i64,
                        ),
                        I.index,
                    ),
                )
                == I.indices(b)[:, None]
            )
            & x_term_2
            & x_term,
            I.i32,
        ),
        axis=1,
    )
