"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def chunk_updates(
    key: I.In[I.f16, ("B", "C", "V", "H", "D")],
    value: I.In[I.f16, ("B", "C", "BLOCK_I_2", "H", "E")],
    decay: I.In[I.f32, ("B", "H", "C", "V_2")],
    strength: I.In[I.f32, ("B", "H", "C", "BLOCK_I_2")],
    taken: I.Out[I.f16, ("B", "H", "C", "BLOCK_I", "D")],
    given: I.Out[I.f32, ("B", "H", "C", "BLOCK_I", "E")],
):
    B = key.shape[0]
    C = key.shape[1]
    H = key.shape[3]
    D = key.shape[4]
    BLOCK_I_2 = value.shape[2]
    E = value.shape[4]
    BLOCK_I = taken.shape[3]
    block_i = I.domain(0, BLOCK_I)
    block_i_2 = I.domain(0, BLOCK_I_2)
    block_i_2_2 = I.domain(1, BLOCK_I_2)
    d = I.domain(0, D)
    e = I.domain(0, E)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for c in I.parallel(I.domain(0, C)):
                inverse = I.cast(I.indices(block_i) == I.indices(block_i_2)[:, None], I.f32)
                for t in range(32):
                    product = I.matmul(
                        key[b, c, block_i_2_2, h, d], key[b, c, block_i, h, d], acc_dtype=I.f32, transpose_rhs=True
                    )
                    strength_sum = I.reduce.sum(
                        I.select(
                            I.indices(block_i) < I.indices(block_i_2_2)[:, None],
                            I.select(
                                (t == I.indices(block_i_2_2))[:, None],
                                product
                                * I.exp(decay[b, h, c, block_i_2_2][:, None] - decay[b, h, c, block_i])
                                * strength[b, h, c, block_i_2_2][:, None],
                                0.0,
                            ),
                            0.0,
                        ),
                        axis=0,
                    )
                    strength_sum_2 = I.reduce.sum(strength_sum * inverse, axis=1)
                    inverse = I.select(
                        t == I.indices(block_i),
                        (I.cast(t == I.indices(block_i_2), I.f32) - strength_sum_2)[:, None],
                        inverse,
                    )
                strength_values = strength[b, h, c, block_i_2]
                given[b, h, c, block_i, e] = I.matmul(
                    I.cast(inverse * strength_values[:, None], I.f16),
                    value[b, c, block_i_2, h, e],
                    acc_dtype=I.f32,
                    transpose_lhs=True,
                )
                product_2 = I.matmul(
                    key[b, c, block_i_2, h, d],
                    I.cast(inverse * (strength_values * I.exp(decay[b, h, c, block_i_2]))[:, None], I.f16),
                    acc_dtype=I.f32,
                    transpose_lhs=True,
                )
                taken[b, h, c, block_i, d] = I.transpose(I.cast(product_2, I.f16), (1, 0))


@intent.kernel
def state_passing_state(
    key: I.In[I.f16, ("B", "C", 32, "H", "D")],
    decay: I.In[I.f32, ("B", "H", "C", 32)],
    taken: I.In[I.f16, ("B", "H", "C", 32, "D")],
    given: I.In[I.f32, ("B", "H", "C", 32, "E")],
    before: I.Out[I.f16, ("B", "H", "C", "D", "E")],
    learned: I.Out[I.f16, ("B", "H", "C", 32, "E")],
    state: I.InOut[I.f32, ("B", "H", "D", "E")],
):
    B = key.shape[0]
    C = key.shape[1]
    H = key.shape[3]
    D = key.shape[4]
    E = given.shape[4]
    d = I.domain(0, D)
    e = I.domain(0, E)
    coordinates = I.domain(0, 32)
    d_2 = I.domain(0, D)
    coordinates_2 = I.domain(0, 32)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            held = state[b, h, d, e]
            for c in range(C):
                before[b, h, c, d, e] = I.cast(held, I.f16)
                decay_value = decay[b, h, c, 31]
                product = I.matmul(taken[b, h, c, coordinates, d], I.cast(held, I.f16), acc_dtype=I.f32)
                product_2 = I.matmul(
                    key[b, c, coordinates, h, d],
                    I.cast(
                        (given[b, h, c, coordinates, e] - product)
                        * I.exp(decay_value - decay[b, h, c, coordinates])[:, None],
                        I.f16,
                    ),
                    acc_dtype=I.f32,
                    transpose_lhs=True,
                )
                held = held * I.exp(decay_value) + product_2
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            for group in I.parallel(I.domain(0, 32)):
                held_2 = state[b, h, d, e]
                for c_2 in range(C):
                    product_3 = I.contract(
                        taken[b, h, c_2, group, d_2], I.cast(held_2, I.f16), reduce=((0, 0),), acc_dtype=I.f32
                    )
                    learned[b, h, c_2, group, e] = I.cast(given[b, h, c_2, group, e] - product_3, I.f16)
                    decay_value_2 = decay[b, h, c_2, 31]
                    product_4 = I.matmul(taken[b, h, c_2, coordinates_2, d_2], I.cast(held_2, I.f16), acc_dtype=I.f32)
                    product_5 = I.matmul(
                        key[b, c_2, coordinates_2, h, d],
                        I.cast(
                            (given[b, h, c_2, coordinates_2, e] - product_4)
                            * I.exp(decay_value_2 - decay[b, h, c_2, coordinates_2])[:, None],
                            I.f16,
                        ),
                        acc_dtype=I.f32,
                        transpose_lhs=True,
                    )
                    held_2 = held_2 * I.exp(decay_value_2) + product_5
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            held_3 = state[b, h, d, e]
            for c_3 in range(C):
                decay_value_3 = decay[b, h, c_3, 31]
                product_6 = I.matmul(taken[b, h, c_3, coordinates, d], I.cast(held_3, I.f16), acc_dtype=I.f32)
                product_7 = I.matmul(
                    key[b, c_3, coordinates, h, d],
                    I.cast(
                        (given[b, h, c_3, coordinates, e] - product_6)
                        * I.exp(decay_value_3 - decay[b, h, c_3, coordinates])[:, None],
                        I.f16,
                    ),
                    acc_dtype=I.f32,
                    transpose_lhs=True,
                )
                held_3 = held_3 * I.exp(decay_value_3) + product_7
            state[b, h, d, e] = held_3


@intent.kernel
def chunk_outputs(
    query: I.In[I.f16, ("B", "C", 32, "H", "D")],
    key: I.In[I.f16, ("B", "C", 32, "H", "D")],
    decay: I.In[I.f32, ("B", "H", "C", 32)],
    before: I.In[I.f16, ("B", "H", "C", "D", "E")],
    learned: I.In[I.f16, ("B", "H", "C", 32, "E")],
    out: I.Out[I.f16, ("B", "C", 32, "H", "E")],
):
    B = query.shape[0]
    C = query.shape[1]
    H = query.shape[3]
    D = query.shape[4]
    E = before.shape[4]
    coordinates = I.domain(0, 32)
    d = I.domain(0, D)
    coordinates_2 = I.domain(0, 32)
    e = I.domain(0, E)
    for b in I.parallel(I.domain(0, B)):
        for c in I.parallel(I.domain(0, C)):
            for h in I.parallel(I.domain(0, H)):
                decay_values = decay[b, h, c, coordinates]
                query_values = query[b, c, coordinates, h, d]
                product = I.matmul(query_values, key[b, c, coordinates_2, h, d], acc_dtype=I.f32, transpose_rhs=True)
                product_2 = I.matmul(
                    I.select(
                        I.indices(coordinates_2) <= I.indices(coordinates)[:, None],
                        I.cast(product * I.exp(decay_values[:, None] - decay[b, h, c, coordinates_2]), I.f16),
                        0.0,
                    ),
                    learned[b, h, c, coordinates_2, e],
                    acc_dtype=I.f32,
                )
                product_3 = I.matmul(query_values, before[b, h, c, d, e], acc_dtype=I.f32)
                out[b, c, coordinates, h, e] = I.cast(product_3 * I.exp(decay_values)[:, None] + product_2, I.f16)
