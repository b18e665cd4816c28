"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def moe_projection(
    tokens: I.In[I.f16, ("V", "K")],
    experts: I.In[I.f16, ("E", "K", "N")],
    offsets: I.In[I.i32, ("P",)],
    listed: I.In[I.i32, ("R",)],
    weight: I.In[I.f32, ("R",)],
    out: I.InOut[I.f32, ("V_2", "N")],
    T: I.index,
):
    K = tokens.shape[1]
    E = experts.shape[0]
    N = experts.shape[2]
    P = offsets.shape[0]
    R = listed.shape[0]
    k = I.domain(0, K)
    n = I.domain(0, N)
    for e in I.parallel(I.domain(0, E)):
        for group in I.parallel(I.domain(0, I.maximum(0, (I.cast(I.gather(offsets, (e,), valid=e < P, fill=0), I.index) * 127 + I.cast(I.gather(offsets, (e + 1,), valid=e + 1 < P, fill=0), I.index) + 127) // 128 - I.cast(I.gather(offsets, (e,), valid=e < P, fill=0), I.index)) * 128)):
            offsets_value = I.cast(I.gather(offsets, (e,), valid=e < P, fill=0), I.index)
            offsets_term = group + offsets_value < R
            offsets_term_2 = 0 <= group + offsets_value
            offsets_term_3 = (
                group + offsets_value < I.cast(I.gather(offsets, (e + 1,), valid=e + 1 < P, fill=0), I.index)
            )
            listed_value = (
                I.cast(I.gather(listed, (group + offsets_value,), valid=offsets_term_3 & offsets_term_2 & offsets_term, fill=0), I.index)
            )
            if offsets_term_3 & (0 <= listed_value) & (listed_value < T):
                offsets_term_4 = offsets_term_2 & offsets_term
                listed_value_2 = (
                    I.cast(I.gather(listed, (group + offsets_value,), valid=offsets_term_4, fill=0), I.index)
                )
                product = I.contract(tokens[listed_value_2, k], experts[e, k, n], reduce=((0, 0),), acc_dtype=I.f32)
                I.scatter_reduce(out, (listed_value_2, n), I.gather(weight, (group + offsets_value,), valid=offsets_term_4, fill=0.0) * product, I.add)
