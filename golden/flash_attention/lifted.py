"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def flash_attention_state(
    q: I.In[I.f16, ("B", "H", "S", "P")],
    k: I.In[I.f16, ("B", "H", "T", "P")],
    v: I.In[I.f16, ("B", "H", "T", "P")],
    out: I.Out[I.f16, ("B", "H", "S", "P")],
    scale: I.f32,
):
    B, H, S, P = q.shape
    T = k.shape[2]
    coordinates = I.domain(0, P)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for group in I.parallel(I.domain(0, 16)):
                for group_2 in I.parallel(I.domain(0, (S + 15) // 16)):
                    members = I.domain(
                        0,
                        I.minimum(
                            T - I.minimum(group_2 * 16 + 1, T) // 64 * 64,
                            (I.minimum(group_2 * 16 + 16, T) + 63) // 64 * 64
                            - I.minimum(group_2 * 16 + 1, T) // 64 * 64,
                        ),
                    )
                    members_2 = I.domain(0, I.minimum(group_2 * 16 + 1, T) // 64 * 64)
                    members_3 = I.domain(
                        0,
                        I.minimum(
                            I.minimum(
                                group + group_2 * 16 + 1 - I.minimum(group_2 * 16 + 1, T) // 64 * 64,
                                T - I.minimum(group_2 * 16 + 1, T) // 64 * 64,
                            ),
                            (I.minimum(group_2 * 16 + 16, T) + 63) // 64 * 64
                            - I.minimum(group_2 * 16 + 1, T) // 64 * 64,
                        ),
                    )
                    if group + group_2 * 16 < S:
                        value_term = scale * 1.442695
                        q_values = q[b, h, group + group_2 * 16, coordinates]
                        product = I.contract(
                            q_values,
                            k[b, h, I.indices(members) + I.minimum(group_2 * 16 + 1, T) // 64 * 64, coordinates],
                            reduce=((0, 1),),
                            acc_dtype=I.f32,
                        )
                        k_max = I.reduce.max(
                            I.select(
                                I.indices(members) + I.minimum(group_2 * 16 + 1, T) // 64 * 64 <= group + group_2 * 16,
                                product * value_term,
                                -1e+38,
                            ),
                            axis=0,
                        )
                        product_2 = I.contract(
                            q_values, k[b, h, members_2, coordinates], reduce=((0, 1),), acc_dtype=I.f32
                        )
                        k_term = product_2 * value_term
                        k_max_2 = I.reduce.max(k_term, axis=0)
                        maximum_k = I.maximum(I.maximum(-1e+38, k_max_2), k_max)
                        product_3 = I.contract(
                            q_values,
                            k[b, h, I.indices(members_3) + I.minimum(group_2 * 16 + 1, T) // 64 * 64, coordinates],
                            reduce=((0, 1),),
                            acc_dtype=I.f32,
                        )
                        exp2_k = I.exp2(product_3 * value_term - maximum_k)
                        k_sum = I.reduce.sum(exp2_k, axis=0)
                        exp2_k_2 = I.exp2(k_term - maximum_k)
                        k_sum_2 = I.reduce.sum(exp2_k_2, axis=0)
                        product_4 = I.contract(
                            I.cast(exp2_k, I.f16),
                            v[b, h, I.indices(members_3) + I.minimum(group_2 * 16 + 1, T) // 64 * 64, coordinates],
                            reduce=((0, 0),),
                            acc_dtype=I.f32,
                        )
                        product_5 = I.contract(
                            I.cast(exp2_k_2, I.f16), v[b, h, members_2, coordinates], reduce=((0, 0),), acc_dtype=I.f32
                        )
                        out[b, h, group + group_2 * 16, coordinates] = I.cast(
                            (product_5 + product_4) / (k_sum_2 + k_sum), I.f16
                        )


@intent.kernel
def flash_attention_state_described(
    q: I.In[I.f16, ("B", "H", "S", "D")],
    k: I.In[I.f16, ("B", "H", "T", "D")],
    v: I.In[I.f16, ("B", "H", "T", "D")],
    out: I.Out[I.f16, ("B", "H", "S", "D")],
    scale: I.f32,
):
    B, H, S, D = q.shape
    T = k.shape[2]
    d = I.domain(0, D)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for group in I.parallel(I.domain(0, 128)):
                for group_2 in I.parallel(I.domain(0, (S + 127) // 128)):
                    members = I.domain(
                        0,
                        I.minimum(
                            T - I.minimum(group_2 * 128 + 1, T) // 128 * 128,
                            (I.minimum(group_2 * 128 + 128, T) + 127) // 128 * 128
                            - I.minimum(group_2 * 128 + 1, T) // 128 * 128,
                        ),
                    )
                    members_2 = I.domain(0, I.minimum(group_2 * 128 + 1, T) // 128 * 128)
                    members_3 = I.domain(
                        0,
                        I.minimum(
                            I.minimum(
                                group + group_2 * 128 + 1 - I.minimum(group_2 * 128 + 1, T) // 128 * 128,
                                T - I.minimum(group_2 * 128 + 1, T) // 128 * 128,
                            ),
                            (I.minimum(group_2 * 128 + 128, T) + 127) // 128 * 128
                            - I.minimum(group_2 * 128 + 1, T) // 128 * 128,
                        ),
                    )
                    if group + group_2 * 128 < S:
                        value_term = scale * 1.442695
                        q_values = q[b, h, group + group_2 * 128, d]
                        product = I.contract(
                            q_values,
                            k[b, h, I.indices(members) + I.minimum(group_2 * 128 + 1, T) // 128 * 128, d],
                            reduce=((0, 1),),
                            acc_dtype=I.f32,
                        )
                        k_max = I.reduce.max(
                            I.select(
                                I.indices(members) + I.minimum(group_2 * 128 + 1, T) // 128 * 128
                                <= group + group_2 * 128,
                                product * value_term,
                                -1e+38,
                            ),
                            axis=0,
                        )
                        product_2 = I.contract(q_values, k[b, h, members_2, d], reduce=((0, 1),), acc_dtype=I.f32)
                        k_term = product_2 * value_term
                        k_max_2 = I.reduce.max(k_term, axis=0)
                        maximum_k = I.maximum(I.maximum(-1e+38, k_max_2), k_max)
                        product_3 = I.contract(
                            q_values,
                            k[b, h, I.indices(members_3) + I.minimum(group_2 * 128 + 1, T) // 128 * 128, d],
                            reduce=((0, 1),),
                            acc_dtype=I.f32,
                        )
                        exp2_k = I.exp2(product_3 * value_term - maximum_k)
                        k_sum = I.reduce.sum(exp2_k, axis=0)
                        exp2_k_2 = I.exp2(k_term - maximum_k)
                        k_sum_2 = I.reduce.sum(exp2_k_2, axis=0)
                        product_4 = I.contract(
                            I.cast(exp2_k, I.f16),
                            v[b, h, I.indices(members_3) + I.minimum(group_2 * 128 + 1, T) // 128 * 128, d],
                            reduce=((0, 0),),
                            acc_dtype=I.f32,
                        )
                        product_5 = I.contract(
                            I.cast(exp2_k_2, I.f16), v[b, h, members_2, d], reduce=((0, 0),), acc_dtype=I.f32
                        )
                        out[b, h, group + group_2 * 128, d] = I.cast((product_5 + product_4) / (k_sum_2 + k_sum), I.f16)
