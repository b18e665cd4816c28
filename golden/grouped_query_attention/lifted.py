"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def grouped_query_attention_state(
    q: I.In[I.bf16, ("B", "S", "K", "G", "Q")],
    k: I.In[I.bf16, ("B", "V", "K", "Q")],
    v: I.In[I.bf16, ("B", "V_2", "K", "Q")],
    out: I.Out[I.bf16, ("B", "S", "K", "G", "Q")],
    window: I.index,
):
    B, S, K, G, Q = q.shape
    g = I.domain(0, G)
    coordinates = I.domain(0, Q)
    for b in I.parallel(I.domain(0, B)):
        for group in I.parallel(I.domain(0, 16)):
            for group_2 in I.parallel(I.domain(0, (S + 15) // 16)):
                for k_2 in I.parallel(I.domain(0, K)):
                    members = I.domain(
                        I.maximum(
                            0,
                            group
                            + group_2 * 16
                            + 1
                            - window
                            - I.maximum(
                                (group_2 * 16 + 1) // 64 * 64,
                                (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                            ),
                        ),
                        I.minimum(
                            I.minimum(
                                group
                                + group_2 * 16
                                + 1
                                - I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                                S
                                - I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                            ),
                            I.maximum(
                                0,
                                (
                                    I.maximum(
                                        (group_2 * 16 + 1) // 64 * 64,
                                        (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                    )
                                    * 63
                                    + I.minimum(group_2 * 16 + 16, S)
                                    + 63
                                )
                                // 64
                                - I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                            )
                            * 64,
                        ),
                    )
                    members_2 = I.domain(
                        0,
                        I.maximum(0, (group_2 * 16 + 1) // 64 - (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64)
                        * 64,
                    )
                    members_3 = I.domain(
                        I.maximum(
                            0, group + group_2 * 16 + 1 - window - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64
                        ),
                        I.minimum(
                            I.minimum(
                                group + group_2 * 16 + 1 - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                                S - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                            ),
                            (
                                I.minimum(
                                    I.minimum(group_2 * 16 + 16, S),
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                )
                                + 63
                            )
                            // 64
                            * 64
                            - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                        ),
                    )
                    members_4 = I.domain(
                        0,
                        I.minimum(
                            S
                            - I.maximum(
                                (group_2 * 16 + 1) // 64 * 64,
                                (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                            ),
                            I.maximum(
                                0,
                                (
                                    I.maximum(
                                        (group_2 * 16 + 1) // 64 * 64,
                                        (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                    )
                                    * 63
                                    + I.minimum(group_2 * 16 + 16, S)
                                    + 63
                                )
                                // 64
                                - I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                            )
                            * 64,
                        ),
                    )
                    members_5 = I.domain(
                        0,
                        I.minimum(
                            S - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                            (
                                I.minimum(
                                    I.minimum(group_2 * 16 + 16, S),
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                )
                                + 63
                            )
                            // 64
                            * 64
                            - I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                        ),
                    )
                    if group + group_2 * 16 < S:
                        q_values = q[b, group + group_2 * 16, k_2, g, coordinates]
                        product = I.matmul(
                            q_values,
                            k[
                                b,
                                I.indices(members)
                                + I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                            transpose_rhs=True,
                        )
                        k_max = I.reduce.max(product, axis=1)
                        product_2 = I.matmul(
                            q_values,
                            k[
                                b,
                                I.indices(members_2) + (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                            transpose_rhs=True,
                        )
                        k_max_2 = I.reduce.max(product_2, axis=1)
                        product_3 = I.matmul(
                            q_values,
                            k[
                                b,
                                I.indices(members_3) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                            transpose_rhs=True,
                        )
                        k_max_3 = I.reduce.max(product_3, axis=1)
                        maximum_k = I.maximum(k_max_3, k_max_2)
                        maximum_k_2 = I.maximum(maximum_k, k_max)
                        k_term = I.select(maximum_k_2 == -I.inf, 0.0, maximum_k_2)
                        product_4 = I.matmul(
                            q_values,
                            k[
                                b,
                                I.indices(members_4)
                                + I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                            transpose_rhs=True,
                        )
                        exp_k = I.exp(
                            I.select(
                                (
                                    I.indices(members_4)
                                    + I.maximum(
                                        (group_2 * 16 + 1) // 64 * 64,
                                        (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                    )
                                    <= group + group_2 * 16
                                )
                                & (
                                    group + group_2 * 16
                                    < window
                                    + I.indices(members_4)
                                    + I.maximum(
                                        (group_2 * 16 + 1) // 64 * 64,
                                        (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                    )
                                ),
                                product_4,
                                -I.inf,
                            )
                            - k_term[:, None],
                        )
                        k_sum = I.reduce.sum(exp_k, axis=1)
                        exp_k_2 = I.exp(maximum_k - k_term)
                        k_term_2 = I.select(maximum_k == -I.inf, 0.0, maximum_k)
                        exp_k_3 = I.exp(product_2 - k_term_2[:, None])
                        k_sum_2 = I.reduce.sum(exp_k_3, axis=1)
                        product_5 = I.matmul(
                            q_values,
                            k[
                                b,
                                I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                            transpose_rhs=True,
                        )
                        exp_k_4 = I.exp(
                            I.select(
                                (
                                    I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64
                                    <= group + group_2 * 16
                                )
                                & (
                                    group + group_2 * 16
                                    < window + I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64
                                ),
                                product_5,
                                -I.inf,
                            )
                            - I.select(k_term_2 == -I.inf, 0.0, k_term_2)[:, None],
                        )
                        k_sum_3 = I.reduce.sum(exp_k_4, axis=1)
                        product_6 = I.matmul(
                            I.cast(exp_k, I.bf16),
                            v[
                                b,
                                I.indices(members_4)
                                + I.maximum(
                                    (group_2 * 16 + 1) // 64 * 64,
                                    (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                ),
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                        )
                        product_7 = I.matmul(
                            I.cast(exp_k_3, I.bf16),
                            v[
                                b,
                                I.indices(members_2) + (I.maximum(0, group_2 * 16 + 16 - window) + 63) // 64 * 64,
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                        )
                        product_8 = I.matmul(
                            I.cast(exp_k_4, I.bf16),
                            v[
                                b,
                                I.indices(members_5) + I.maximum(0, group_2 * 16 + 1 - window) // 64 * 64,
                                k_2,
                                coordinates,
                            ],
                            acc_dtype=I.f32,
                        )
                        out[b, group + group_2 * 16, k_2, g, coordinates] = I.cast(
                            ((product_8 + product_7) * exp_k_2[:, None] + product_6)
                            / ((k_sum_3 + k_sum_2) * exp_k_2 + k_sum)[:, None],
                            I.bf16,
                        )
