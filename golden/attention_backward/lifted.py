"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def attention_delta(
    dout: I.In[I.f16, ("B", "S", "D")],
    out: I.In[I.f16, ("B", "S", "D")],
    delta: I.Out[I.f32, ("B", "S")],
):
    B, S, D = dout.shape
    b = I.domain(0, B)
    s = I.domain(0, S)
    d = I.domain(0, D)
    delta[b, s] = I.reduce.sum(I.cast(dout[b, s, d], I.f32) * I.cast(out[b, s, d], I.f32), axis=2)


@intent.kernel
def attention_dk_dv_state(
    q: I.In[I.f16, ("B", "V", "K")],
    k: I.In[I.f16, ("B", "S", "K")],
    v: I.In[I.f16, ("B", "S", "K")],
    dout: I.In[I.f16, ("B", "V_2", "K")],
    log_mass: I.In[I.f32, ("B", "V_3")],
    delta: I.In[I.f32, ("B", "V_4")],
    dk: I.Out[I.f16, ("B", "S", "K")],
    dv: I.Out[I.f16, ("B", "S", "K")],
    scale: I.f32,
):
    B = q.shape[0]
    K = q.shape[2]
    S = k.shape[1]
    coordinates = I.domain(0, K)
    for b in I.parallel(I.domain(0, B)):
        for group in I.parallel(I.domain(0, 16)):
            for group_2 in I.parallel(I.domain(0, (S + 15) // 16)):
                members = I.domain(0, S - I.maximum((group_2 * 16 + 14) // 64 * 64 + 64, S // 64 * 64))
                members_2 = I.domain(0, I.maximum(0, S // 64 - 1 - (group_2 * 16 + 14) // 64) * 64)
                members_3 = I.domain(
                    group + group_2 * 16 % 64,
                    I.minimum(
                        S - group_2 * 16 // 64 * 64,
                        (I.minimum((group_2 * 16 + 14) // 64 * 64 + 64, S) + 63) // 64 * 64 - group_2 * 16 // 64 * 64,
                    ),
                )
                if group + group_2 * 16 < S:
                    v_values = v[b, group + group_2 * 16, coordinates]
                    dout_values = dout[
                        b,
                        I.indices(members) + I.maximum((group_2 * 16 + 14) // 64 * 64 + 64, S // 64 * 64),
                        coordinates,
                    ]
                    product = I.contract(dout_values, v_values, reduce=((1, 0),), acc_dtype=I.f32)
                    value_term = scale * 1.442695
                    k_values = k[b, group + group_2 * 16, coordinates]
                    q_values = q[
                        b,
                        I.indices(members) + I.maximum((group_2 * 16 + 14) // 64 * 64 + 64, S // 64 * 64),
                        coordinates,
                    ]
                    product_2 = I.contract(q_values, k_values, reduce=((1, 0),), acc_dtype=I.f32)
                    exp2_log_mass = I.exp2(
                        product_2 * value_term
                        - log_mass[
                            b, I.indices(members) + I.maximum((group_2 * 16 + 14) // 64 * 64 + 64, S // 64 * 64)
                        ],
                    )
                    product_3 = I.contract(
                        q_values,
                        I.cast(
                            exp2_log_mass
                            * (
                                product
                                - delta[
                                    b, I.indices(members) + I.maximum((group_2 * 16 + 14) // 64 * 64 + 64, S // 64 * 64)
                                ]
                            ),
                            I.f16,
                        ),
                        reduce=((0, 0),),
                        acc_dtype=I.f32,
                    )
                    dout_values_2 = dout[b, I.indices(members_2) + (group_2 * 16 + 14) // 64 * 64 + 64, coordinates]
                    product_4 = I.contract(dout_values_2, v_values, reduce=((1, 0),), acc_dtype=I.f32)
                    q_values_2 = q[b, I.indices(members_2) + (group_2 * 16 + 14) // 64 * 64 + 64, coordinates]
                    product_5 = I.contract(q_values_2, k_values, reduce=((1, 0),), acc_dtype=I.f32)
                    exp2_log_mass_2 = I.exp2(
                        product_5 * value_term - log_mass[b, I.indices(members_2) + (group_2 * 16 + 14) // 64 * 64 + 64]
                    )
                    product_6 = I.contract(
                        q_values_2,
                        I.cast(
                            exp2_log_mass_2
                            * (product_4 - delta[b, I.indices(members_2) + (group_2 * 16 + 14) // 64 * 64 + 64]),
                            I.f16,
                        ),
                        reduce=((0, 0),),
                        acc_dtype=I.f32,
                    )
                    dout_values_3 = dout[b, I.indices(members_3) + group_2 * 16 // 64 * 64, coordinates]
                    product_7 = I.contract(dout_values_3, v_values, reduce=((1, 0),), acc_dtype=I.f32)
                    q_values_3 = q[b, I.indices(members_3) + group_2 * 16 // 64 * 64, coordinates]
                    product_8 = I.contract(q_values_3, k_values, reduce=((1, 0),), acc_dtype=I.f32)
                    exp2_log_mass_3 = I.exp2(
                        product_8 * value_term - log_mass[b, I.indices(members_3) + group_2 * 16 // 64 * 64]
                    )
                    product_9 = I.contract(
                        q_values_3,
                        I.cast(
                            exp2_log_mass_3 * (product_7 - delta[b, I.indices(members_3) + group_2 * 16 // 64 * 64]),
                            I.f16,
                        ),
                        reduce=((0, 0),),
                        acc_dtype=I.f32,
                    )
                    dk[b, group + group_2 * 16, coordinates] = I.cast(
                        (product_9 + product_6 + product_3) * scale, I.f16
                    )
                    product_10 = I.contract(
                        dout_values, I.cast(exp2_log_mass, I.f16), reduce=((0, 0),), acc_dtype=I.f32
                    )
                    product_11 = I.contract(
                        dout_values_2, I.cast(exp2_log_mass_2, I.f16), reduce=((0, 0),), acc_dtype=I.f32
                    )
                    product_12 = I.contract(
                        dout_values_3, I.cast(exp2_log_mass_3, I.f16), reduce=((0, 0),), acc_dtype=I.f32
                    )
                    dv[b, group + group_2 * 16, coordinates] = I.cast(product_12 + product_11 + product_10, I.f16)


@intent.kernel
def attention_dq_state(
    q: I.In[I.f16, ("B", "S", "K")],
    k: I.In[I.f16, ("B", "S", "K")],
    v: I.In[I.f16, ("B", "S", "K")],
    dout: I.In[I.f16, ("B", "S", "K")],
    log_mass: I.In[I.f32, ("B", "S")],
    delta: I.In[I.f32, ("B", "S")],
    dq: I.Out[I.f16, ("B", "S", "K")],
    scale: I.f32,
):
    B, S, K = q.shape
    coordinates = I.domain(0, K)
    for b in I.parallel(I.domain(0, B)):
        for group in I.parallel(I.domain(0, 16)):
            for group_2 in I.parallel(I.domain(0, (S + 15) // 16)):
                members = I.domain(
                    0,
                    I.minimum(
                        I.minimum(S - (group_2 * 16 + 1) // 64 * 64, group + (group_2 * 16 + 1) % 64),
                        (I.minimum(group_2 * 16 + 16, S) + 63) // 64 * 64 - (group_2 * 16 + 1) // 64 * 64,
                    ),
                )
                members_2 = I.domain(0, (group_2 * 16 + 1) // 64 * 64)
                if group + group_2 * 16 < S:
                    k_values = k[b, I.indices(members) + (group_2 * 16 + 1) // 64 * 64, coordinates]
                    delta_value = delta[b, group + group_2 * 16]
                    dout_values = dout[b, group + group_2 * 16, coordinates]
                    product = I.contract(
                        dout_values,
                        v[b, I.indices(members) + (group_2 * 16 + 1) // 64 * 64, coordinates],
                        reduce=((0, 1),),
                        acc_dtype=I.f32,
                    )
                    log_mass_value = log_mass[b, group + group_2 * 16]
                    value_term = scale * 1.442695
                    q_values = q[b, group + group_2 * 16, coordinates]
                    product_2 = I.contract(q_values, k_values, reduce=((0, 1),), acc_dtype=I.f32)
                    product_3 = I.contract(
                        I.cast(I.exp2(product_2 * value_term - log_mass_value) * (product - delta_value), I.f16),
                        k_values,
                        reduce=((0, 0),),
                        acc_dtype=I.f32,
                    )
                    k_values_2 = k[b, members_2, coordinates]
                    product_4 = I.contract(dout_values, v[b, members_2, coordinates], reduce=((0, 1),), acc_dtype=I.f32)
                    product_5 = I.contract(q_values, k_values_2, reduce=((0, 1),), acc_dtype=I.f32)
                    product_6 = I.contract(
                        I.cast(I.exp2(product_5 * value_term - log_mass_value) * (product_4 - delta_value), I.f16),
                        k_values_2,
                        reduce=((0, 0),),
                        acc_dtype=I.f32,
                    )
                    dq[b, group + group_2 * 16, coordinates] = I.cast((product_6 + product_3) * scale, I.f16)
