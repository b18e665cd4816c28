"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def upsample_bilinear(
    x: I.In[I.f32, ("B", "H", "W")],
    out: I.Out[I.f32, ("B", "P", "Q")],
):
    B, H, W = x.shape
    P = out.shape[1]
    Q = out.shape[2]
    p = I.domain(0, P)
    b = I.domain(0, B)
    for q in I.parallel(I.domain(0, Q)):
        value_term = I.cast(I.select(I.indices(p) % 2 == 0, 0.75, 0.25), I.f32)
        value_term_2 = I.cast(I.select(q % 2 == 0, 0.75, 0.25), I.f32)
        value_term_3 = 0 <= I.minimum(W - 1, (q + 1) // 2)
        value_term_4 = 0 <= I.minimum(H - 1, (I.indices(p) + 1) // 2)
        value_term_5 = 1.0 - value_term_2
        value_term_6 = I.maximum(0, (q + 1) // 2 - 1) < W
        value_term_7 = I.maximum(0, (I.indices(p) + 1) // 2 - 1) < H
        out[b, p, q] = (
            I.gather(
                x,
                (b, I.maximum(0, (I.indices(p) + 1) // 2 - 1), I.maximum(0, (q + 1) // 2 - 1)),
                valid=value_term_7 & value_term_6,
                fill=0.0,
            )
            * value_term_5
            + I.gather(
                x,
                (b, I.maximum(0, (I.indices(p) + 1) // 2 - 1), I.minimum(W - 1, (q + 1) // 2)),
                valid=value_term_7 & value_term_3,
                fill=0.0,
            )
            * value_term_2
        ) * (1.0 - value_term) + (
            I.gather(
                x,
                (b, I.minimum(H - 1, (I.indices(p) + 1) // 2), I.maximum(0, (q + 1) // 2 - 1)),
                valid=value_term_4 & value_term_6,
                fill=0.0,
            )
            * value_term_5
            + I.gather(
                x,
                (b, I.minimum(H - 1, (I.indices(p) + 1) // 2), I.minimum(W - 1, (q + 1) // 2)),
                valid=value_term_4 & value_term_3,
                fill=0.0,
            )
            * value_term_2
        ) * value_term
