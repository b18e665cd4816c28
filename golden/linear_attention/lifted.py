"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def linear_attention_state(
    query: I.In[I.f16, ("B", "H", "K", 64, "Q")],
    key: I.In[I.f16, ("B", "H", "T", "Q")],
    value: I.In[I.f16, ("B", "H", "T", "E")],
    out: I.Out[I.f32, ("B", "H", "T", "E")],
    last: I.Out[I.f32, ("B", "H", "Q", "E")],
):
    B = query.shape[0]
    H = query.shape[1]
    K = query.shape[2]
    Q = query.shape[4]
    T = key.shape[2]
    E = value.shape[3]
    coordinates = I.domain(0, Q)
    e = I.domain(0, E)
    t = I.domain(0, T)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for group in I.parallel(I.domain(0, 64)):
                for group_2 in I.parallel(I.domain(0, K)):
                    members = I.domain(0, group_2 * 64)
                    members_2 = I.domain(0, I.minimum(group + 1, T - group_2 * 64))
                    if group + group_2 * 64 < T:
                        product = (
                            I.matmul(key[b, h, members, coordinates], value[b, h, members, e], acc_dtype=I.f32, transpose_lhs=True)
                        )
                        query_values = query[b, h, group_2, group, coordinates]
                        product_2 = I.contract(query_values, I.cast(product, I.f16), reduce=((0, 0),), acc_dtype=I.f32)
                        product_3 = (
                            I.contract(query_values, key[b, h, group_2 * 64 + I.indices(members_2), coordinates], reduce=((0, 1),), acc_dtype=I.f32)
                        )
                        product_4 = (
                            I.contract(I.cast(product_3, I.f16), value[b, h, group_2 * 64 + I.indices(members_2), e], reduce=((0, 0),), acc_dtype=I.f32)
                        )
                        out[b, h, group + group_2 * 64, e] = product_4 + product_2
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            last[b, h, coordinates, e] = (
                I.matmul(key[b, h, t, coordinates], value[b, h, t, e], acc_dtype=I.f32, transpose_lhs=True)
            )
