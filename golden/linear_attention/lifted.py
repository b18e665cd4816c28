"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def linear_attention_state(
    query: I.In[I.f16, ("B", "H", "T", "P")],
    key: I.In[I.f16, ("B", "H", "T", "P")],
    value: I.In[I.f16, ("B", "H", "T", "E")],
    out: I.Out[I.f32, ("B", "H", "T", "E")],
    last: I.Out[I.f32, ("B", "H", "P", "E")],
):
    B, H, T, P = query.shape
    E = value.shape[3]
    coordinates = I.domain(0, P)
    e = I.domain(0, E)
    t = I.domain(0, T)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for group in I.parallel(I.domain(0, 64)):
                for group_2 in I.parallel(I.domain(0, (T + 63) // 64)):
                    members = I.domain(0, group_2 * 64)
                    members_2 = I.domain(0, I.minimum(group + 1, T - group_2 * 64))
                    if group + group_2 * 64 < T:
                        product = I.matmul(
                            key[b, h, members, coordinates],
                            value[b, h, members, e],
                            acc_dtype=I.f32,
                            transpose_lhs=True,
                        )
                        query_values = query[b, h, group + group_2 * 64, coordinates]
                        product_2 = I.contract(query_values, I.cast(product, I.f16), reduce=((0, 0),), acc_dtype=I.f32)
                        product_3 = I.contract(
                            query_values,
                            key[b, h, group_2 * 64 + I.indices(members_2), coordinates],
                            reduce=((0, 1),),
                            acc_dtype=I.f32,
                        )
                        product_4 = I.contract(
                            I.cast(product_3, I.f16),
                            value[b, h, group_2 * 64 + I.indices(members_2), e],
                            reduce=((0, 0),),
                            acc_dtype=I.f32,
                        )
                        out[b, h, group + group_2 * 64, e] = product_4 + product_2
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            last[b, h, coordinates, e] = I.matmul(
                key[b, h, t, coordinates], value[b, h, t, e], acc_dtype=I.f32, transpose_lhs=True
            )
