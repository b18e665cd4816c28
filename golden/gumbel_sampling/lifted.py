"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def gumbel_sampling(
    logits: I.In[I.f32, ("M", "N")],
    out: I.Out[I.i64, ("M",)],
    temperature: I.f32,
    seed: I.u64,
):
    M, N = logits.shape
    m = I.domain(0, M)
    n = I.domain(0, N)
    out[m] = I.cast(
        I.arg_reduce.max(
            logits[m, n] / temperature
            - I.log(
                I.log(
                    I.cast(I.random.bits(seed, N * I.indices(m)[:, None] + I.indices(n)) >> 8, I.f32) * 5.9604645e-08
                    + 2.9802322e-08,
                )
                * -1.0,
            ),
            axis=1,
        )[1],
        I.i64,
    )
