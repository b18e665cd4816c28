"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def grouped_decode_state(
    q: I.In[I.f16, ("B", "H", "G", "P")],
    keys: I.In[I.f16, ("V",)],
    values: I.In[I.f16, ("V_2",)],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "H", "G", "P")],
    T: I.index,
    stride_keys_b: I.index,
    stride_keys_t: I.index,
    stride_keys_h: I.index,
    stride_keys_d: I.index,
    stride_values_b: I.index,
    stride_values_t: I.index,
    stride_values_h: I.index,
    stride_values_d: I.index,
    scale: I.f32,
):
    B, H, G, P = q.shape
    g = I.domain(0, G)
    coordinates = I.domain(0, P)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for group in I.parallel(I.domain(0, P)):
                members = I.domain(
                    I.select(
                        I.minimum(T, I.cast(lengths[b], I.index)) < 0,
                        -(-I.minimum(T, I.cast(lengths[b], I.index)) // 64),
                        I.minimum(T, I.cast(lengths[b], I.index)) // 64,
                    )
                    * 64,
                    I.minimum(T, I.cast(lengths[b], I.index)),
                )
                members_2 = I.domain(
                    0,
                    I.maximum(
                        0,
                        I.select(
                            I.minimum(T, I.cast(lengths[b], I.index)) < 0,
                            -(-I.minimum(T, I.cast(lengths[b], I.index)) // 64),
                            I.minimum(T, I.cast(lengths[b], I.index)) // 64,
                        ),
                    )
                    * 64,
                )
                lengths_value = I.cast(lengths[b], I.index)
                q_rounded = I.cast(I.cast(q[b, h, g, coordinates], I.f32) * scale, I.f16)
                product = I.matmul(
                    q_rounded,
                    keys[
                        stride_keys_b * b
                        + stride_keys_d * I.indices(coordinates)[:, None]
                        + stride_keys_h * h
                        + stride_keys_t * I.indices(members)
                    ],
                    acc_dtype=I.f32,
                )
                lengths_max = I.reduce.max(product, axis=1)
                product_2 = I.matmul(
                    q_rounded,
                    keys[
                        stride_keys_b * b
                        + stride_keys_d * I.indices(coordinates)[:, None]
                        + stride_keys_h * h
                        + stride_keys_t * I.indices(members_2)
                    ],
                    acc_dtype=I.f32,
                )
                lengths_max_2 = I.reduce.max(product_2, axis=1)
                maximum_lengths = I.maximum(lengths_max_2, lengths_max)
                lengths_term = I.select(maximum_lengths == -I.inf, 0.0, maximum_lengths)
                exp_lengths = I.exp(product - lengths_term[:, None])
                lengths_sum = I.reduce.sum(exp_lengths, axis=1)
                exp_lengths_2 = I.exp(product_2 - I.select(lengths_term == -I.inf, 0.0, lengths_term)[:, None])
                lengths_sum_2 = I.reduce.sum(exp_lengths_2, axis=1)
                product_3 = I.contract(
                    I.cast(exp_lengths, I.f16),
                    values[
                        stride_values_b * b
                        + stride_values_d * group
                        + stride_values_h * h
                        + stride_values_t * I.indices(members)
                    ],
                    reduce=((1, 0),),
                    acc_dtype=I.f32,
                )
                product_4 = I.contract(
                    I.cast(exp_lengths_2, I.f16),
                    values[
                        stride_values_b * b
                        + stride_values_d * group
                        + stride_values_h * h
                        + stride_values_t * I.indices(members_2)
                    ],
                    reduce=((1, 0),),
                    acc_dtype=I.f32,
                )
                out[b, h, g, group] = I.cast((product_4 + product_3) / (lengths_sum_2 + lengths_sum), I.f16)


@intent.kernel
def grouped_decode_state_described(
    q: I.In[I.f16, ("B", "H", "G", "D")],
    keys: I.In[I.f16, ("V",)],
    values: I.In[I.f16, ("V_2",)],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "H", "G", "D")],
    T: I.index,
    stride_keys_b: I.index,
    stride_keys_t: I.index,
    stride_keys_h: I.index,
    stride_keys_d: I.index,
    stride_values_b: I.index,
    stride_values_t: I.index,
    stride_values_h: I.index,
    stride_values_d: I.index,
    scale: I.f32,
):
    B, H, G, D = q.shape
    g = I.domain(0, G)
    d_2 = I.domain(0, D)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for d in I.parallel(I.domain(0, D)):
                members = I.domain(
                    I.select(
                        I.minimum(T, I.cast(lengths[b], I.index)) < 0,
                        -(-I.minimum(T, I.cast(lengths[b], I.index)) // 128),
                        I.minimum(T, I.cast(lengths[b], I.index)) // 128,
                    )
                    * 128,
                    I.minimum(T, I.cast(lengths[b], I.index)),
                )
                members_2 = I.domain(
                    0,
                    I.maximum(
                        0,
                        I.select(
                            I.minimum(T, I.cast(lengths[b], I.index)) < 0,
                            -(-I.minimum(T, I.cast(lengths[b], I.index)) // 128),
                            I.minimum(T, I.cast(lengths[b], I.index)) // 128,
                        ),
                    )
                    * 128,
                )
                members_3 = I.domain(
                    0,
                    I.minimum(
                        T,
                        I.maximum(
                            0,
                            I.select(
                                I.minimum(T, I.cast(lengths[b], I.index)) < 0,
                                -(-I.minimum(T, I.cast(lengths[b], I.index)) // 128),
                                I.minimum(T, I.cast(lengths[b], I.index)) // 128,
                            ),
                        )
                        * 128,
                    ),
                )
                lengths_value = I.cast(lengths[b], I.index)
                q_rounded = I.cast(I.cast(q[b, h, g, d_2], I.f32) * scale, I.f16)
                product = I.matmul(
                    q_rounded,
                    keys[
                        stride_keys_b * b
                        + stride_keys_d * I.indices(d_2)[:, None]
                        + stride_keys_h * h
                        + stride_keys_t * I.indices(members)
                    ],
                    acc_dtype=I.f32,
                )
                lengths_max = I.reduce.max(product, axis=1)
                product_2 = I.matmul(
                    q_rounded,
                    I.gather(
                        keys,
                        (
                            stride_keys_b * b
                            + stride_keys_d * I.indices(d_2)[:, None]
                            + stride_keys_h * h
                            + stride_keys_t * I.indices(members_2),
                        ),
                        valid=I.indices(members_2) < T,
                        fill=0.0,
                    ),
                    acc_dtype=I.f32,
                )
                lengths_max_2 = I.reduce.max(product_2, axis=1)
                maximum_lengths = I.maximum(lengths_max_2, lengths_max)
                lengths_term = I.select(maximum_lengths == -I.inf, 0.0, maximum_lengths)
                exp_lengths = I.exp(product - lengths_term[:, None])
                lengths_sum = I.reduce.sum(exp_lengths, axis=1)
                lengths_term_2 = I.select(lengths_term == -I.inf, 0.0, lengths_term)
                lengths_sum_2 = I.reduce.sum(I.exp(product_2 - lengths_term_2[:, None]), axis=1)
                product_3 = I.contract(
                    I.cast(exp_lengths, I.f16),
                    values[
                        stride_values_b * b
                        + stride_values_d * d
                        + stride_values_h * h
                        + stride_values_t * I.indices(members)
                    ],
                    reduce=((1, 0),),
                    acc_dtype=I.f32,
                )
                product_4 = I.matmul(
                    q_rounded,
                    keys[
                        stride_keys_b * b
                        + stride_keys_d * I.indices(d_2)[:, None]
                        + stride_keys_h * h
                        + stride_keys_t * I.indices(members_3)
                    ],
                    acc_dtype=I.f32,
                )
                product_5 = I.contract(
                    I.cast(I.exp(product_4 - lengths_term_2[:, None]), I.f16),
                    values[
                        stride_values_b * b
                        + stride_values_d * d
                        + stride_values_h * h
                        + stride_values_t * I.indices(members_3)
                    ],
                    reduce=((1, 0),),
                    acc_dtype=I.f32,
                )
                out[b, h, g, d] = I.cast((product_5 + product_3) / (lengths_sum_2 + lengths_sum), I.f16)
