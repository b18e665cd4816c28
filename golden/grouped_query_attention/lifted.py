"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def grouped_query_attention_state(
    q: I.In[I.bf16, ("B", "S", "K", "G", "D")],
    k: I.In[I.bf16, ("B", "V", "K", "D")],
    v: I.In[I.bf16, ("B", "V_2", "K", "P")],
    out: I.Out[I.bf16, ("B", "S", "K", "G", "P")],
    window: I.index,
):
    B, S, K, G, D = q.shape
    P = v.shape[3]
    g = I.domain(0, G)
    coordinates = I.domain(0, P)
    coordinates_2 = I.domain(0, 64)
    for b in I.parallel(I.domain(0, B)):
        for group in I.parallel(I.domain(0, 16)):
            for group_2 in I.parallel(I.domain(0, (S + 15) // 16)):
                for k_2 in I.parallel(I.domain(0, K)):
                    members = (
                        I.domain(I.maximum(0, group + group_2 * 16 + 1 - window - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)), I.minimum(I.minimum(group + group_2 * 16 + 1 - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64), S - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)), I.maximum(0, (I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) * 63 + I.minimum(group_2 * 16 + 16, S) + 63) // 64 - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)) * 64))
                    )
                    members_2 = (
                        I.domain(0, I.maximum(0, (group_2 * 16 + 1) // 64 - (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64) * 64)
                    )
                    members_3 = (
                        I.domain(I.maximum(0, group + group_2 * 16 + 1 - window - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64), I.minimum(I.minimum(group + group_2 * 16 + 1 - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64, S - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64), (I.minimum(I.minimum(group_2 * 16 + 16, S), (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) + 63) // 64 * 64 - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64))
                    )
                    members_4 = (
                        I.domain(0, I.minimum(S - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64), I.maximum(0, (I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) * 63 + I.minimum(group_2 * 16 + 16, S) + 63) // 64 - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)) * 64))
                    )
                    members_5 = (
                        I.domain(0, I.minimum(S - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64, (I.minimum(I.minimum(group_2 * 16 + 16, S), (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) + 63) // 64 * 64 - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64))
                    )
                    members_6 = (
                        I.domain(0, I.maximum(0, (I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) * 63 + I.minimum(group_2 * 16 + 16, S) + 63) // 64 - I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)) * 64)
                    )
                    members_7 = (
                        I.domain(0, (I.minimum(I.minimum(group_2 * 16 + 16, S), (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) + 63) // 64 * 64 - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64)
                    )
                    if group + group_2 * 16 < S:
                        q_values = q[b, group + group_2 * 16, k_2, g, coordinates]
                        product = (
                            I.matmul(q_values, k[b, I.indices(members) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64), k_2, coordinates], acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_max = I.reduce.max(product, axis=1)
                        product_2 = (
                            I.matmul(q_values, k[b, I.indices(members_2) + (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64, k_2, coordinates], acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_max_2 = I.reduce.max(product_2, axis=1)
                        product_3 = (
                            I.matmul(q_values, k[b, I.indices(members_3) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64, k_2, coordinates], acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_max_3 = I.reduce.max(product_3, axis=1)
                        maximum_k = I.maximum(k_max_3, k_max_2)
                        maximum_k_2 = I.maximum(maximum_k, k_max)
                        k_term = I.select(maximum_k_2 == -I.inf, 0.0, maximum_k_2)
                        product_4 = (
                            I.matmul(q_values, k[b, I.indices(members_4) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64), k_2, coordinates], acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_sum = (
                            I.reduce.sum(I.exp(I.select((I.indices(members_4) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) <= group + group_2 * 16) & (group + group_2 * 16 < window + I.indices(members_4) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)), product_4, -I.inf) - k_term[:, None]), axis=1)
                        )
                        exp_k = I.exp(maximum_k - k_term)
                        k_term_2 = I.select(maximum_k == -I.inf, 0.0, maximum_k)
                        k_sum_2 = I.reduce.sum(I.exp(product_2 - k_term_2[:, None]), axis=1)
                        product_5 = (
                            I.matmul(q_values, k[b, I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64, k_2, coordinates], acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_sum_3 = (
                            I.reduce.sum(I.exp(I.select((I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64 <= group + group_2 * 16) & (group + group_2 * 16 < window + I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64), product_5, -I.inf) - I.select(k_term_2 == -I.inf, 0.0, k_term_2)[:, None]), axis=1)
                        )
                        value_term = (
                            I.indices(members_6)
                            + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) < S
                        )
                        value_term_2 = I.indices(coordinates_2) < D
                        q_values_2 = (
                            I.gather(q, (b, group + group_2 * 16, k_2, g, coordinates_2), valid=value_term_2, fill=0.0)
                        )
                        product_6 = (
                            I.matmul(q_values_2, I.gather(k, (b, I.indices(members_6) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64), k_2, coordinates_2), valid=value_term_2 & value_term[:, None], fill=0.0), acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_term_3 = (
                            I.select((I.indices(members_6) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64) <= group + group_2 * 16) & (group + group_2 * 16 < window + I.indices(members_6) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64)), product_6, -I.inf)
                        )
                        k_max_4 = I.reduce.max(I.select(value_term, k_term_3, -I.inf), axis=1)
                        product_7 = (
                            I.matmul(q_values_2, I.gather(k, (b, I.indices(members_2) + (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64, k_2, coordinates_2), valid=value_term_2, fill=0.0), acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_max_5 = I.reduce.max(product_7, axis=1)
                        value_term_3 = I.indices(members_7) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64 < S
                        product_8 = (
                            I.matmul(q_values_2, I.gather(k, (b, I.indices(members_7) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64, k_2, coordinates_2), valid=value_term_2 & value_term_3[:, None], fill=0.0), acc_dtype=I.f32, transpose_rhs=True)
                        )
                        k_term_4 = (
                            I.select((I.indices(members_7) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64 <= group + group_2 * 16) & (group + group_2 * 16 < window + I.indices(members_7) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64), product_8, -I.inf)
                        )
                        k_max_6 = I.reduce.max(I.select(value_term_3, k_term_4, -I.inf), axis=1)
                        maximum_k_3 = I.maximum(k_max_6, k_max_5)
                        maximum_k_4 = I.maximum(maximum_k_3, k_max_4)
                        product_9 = (
                            I.matmul(I.select(value_term, I.cast(I.exp(k_term_3 - I.select(maximum_k_4 == -I.inf, 0.0, maximum_k_4)[:, None]), I.bf16), 0.0), I.gather(v, (b, I.indices(members_6) + I.maximum((group_2 * 16 + 1) // 64 * 64, (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64), k_2, coordinates), valid=value_term[:, None], fill=0.0), acc_dtype=I.f32)
                        )
                        k_term_5 = I.select(maximum_k_3 == -I.inf, 0.0, maximum_k_3)
                        product_10 = (
                            I.matmul(I.cast(I.exp(product_7 - k_term_5[:, None]), I.bf16), v[b, I.indices(members_2) + (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64, k_2, coordinates], acc_dtype=I.f32)
                        )
                        product_11 = (
                            I.matmul(I.select(value_term_3, I.cast(I.exp(k_term_4 - I.select(k_term_5 == -I.inf, 0.0, k_term_5)[:, None]), I.bf16), 0.0), I.gather(v, (b, I.indices(members_7) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64, k_2, coordinates), valid=value_term_3[:, None], fill=0.0), acc_dtype=I.f32)
                        )
                        out[b, group + group_2 * 16, k_2, g, coordinates] = (
                            I.cast(((product_11 + product_10) * exp_k[:, None] + product_9) / ((k_sum_3 + k_sum_2) * exp_k + k_sum)[:, None], I.bf16)
                        )
