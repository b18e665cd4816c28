"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def moe_projection(
    tokens: I.In[I.f16, ("T", "K")],
    experts: I.In[I.f16, ("E", "K", "N")],
    offsets: I.In[I.i32, ("P",)],
    listed: I.In[I.i32, ("R",)],
    weight: I.In[I.f32, ("R",)],
    out: I.InOut[I.f32, ("T", "N")],
):
    T, K = tokens.shape
    E = experts.shape[0]
    N = experts.shape[2]
    P = offsets.shape[0]
    R = listed.shape[0]
    k = I.domain(0, K)
    n = I.domain(0, N)
    for e in I.parallel(I.domain(0, E)):
        for group in I.parallel(
            I.domain(
                I.cast(I.gather(offsets, (e,), valid=e < P, fill=0), I.index),
                I.cast(I.gather(offsets, (e + 1,), valid=e + 1 < P, fill=0), I.index),
            ),
        ):
            value_term = (0 <= group) & (group < R)
            listed_value = I.cast(I.gather(listed, (group,), valid=value_term, fill=0), I.index)
            if (0 <= listed_value) & (listed_value < T):
                product = I.contract(tokens[listed_value, k], experts[e, k, n], reduce=((0, 0),), acc_dtype=I.f32)
                I.scatter_reduce(
                    out, (listed_value, n), I.gather(weight, (group,), valid=value_term, fill=0.0) * product, I.add
                )
