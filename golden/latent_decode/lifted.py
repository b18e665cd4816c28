"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def latent_decode_state(
    q: I.In[I.f16, ("B", "H", "K")],
    q_rotary: I.In[I.f16, ("B", "H", "P")],
    latent: I.In[I.f16, ("B", "S", "K")],
    rotary: I.In[I.f16, ("B", "S", "P")],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "H", "K")],
    scale: I.f32,
):
    B, H, K = q.shape
    P = q_rotary.shape[2]
    S = latent.shape[1]
    h = I.domain(0, H)
    p = I.domain(0, P)
    coordinates = I.domain(0, K)
    for b in I.parallel(I.domain(0, B)):
        members = I.domain(
            I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64 * 64,
            I.minimum(
                I.minimum(S, I.cast(lengths[b], I.index)),
                I.maximum(
                    0,
                    (I.minimum(S, I.cast(lengths[b], I.index)) + 63) // 64
                    - I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64,
                )
                * 64
                + I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64 * 64,
            ),
        )
        members_2 = I.domain(0, I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64 * 64)
        members_3 = I.domain(
            I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64 * 64,
            I.minimum(
                S,
                I.maximum(
                    0,
                    (I.minimum(S, I.cast(lengths[b], I.index)) + 63) // 64
                    - I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64,
                )
                * 64
                + I.maximum(0, I.minimum(S, I.cast(lengths[b], I.index))) // 64 * 64,
            ),
        )
        lengths_value = I.cast(lengths[b], I.index)
        q_rotary_values = q_rotary[b, h, p]
        product = I.matmul(q_rotary_values, rotary[b, members, p], acc_dtype=I.f32, transpose_rhs=True)
        q_values = q[b, h, coordinates]
        product_2 = I.matmul(q_values, latent[b, members, coordinates], acc_dtype=I.f32, transpose_rhs=True)
        lengths_max = I.reduce.max((product_2 + product) * scale, axis=1)
        product_3 = I.matmul(q_rotary_values, rotary[b, members_2, p], acc_dtype=I.f32, transpose_rhs=True)
        latent_values = latent[b, members_2, coordinates]
        product_4 = I.matmul(q_values, latent_values, acc_dtype=I.f32, transpose_rhs=True)
        rotary_term = (product_4 + product_3) * scale
        lengths_max_2 = I.reduce.max(rotary_term, axis=1)
        maximum_lengths = I.maximum(lengths_max_2, lengths_max)
        lengths_term = I.select(maximum_lengths == -I.inf, 0.0, maximum_lengths)
        product_5 = I.matmul(q_rotary_values, rotary[b, members_3, p], acc_dtype=I.f32, transpose_rhs=True)
        latent_values_2 = latent[b, members_3, coordinates]
        product_6 = I.matmul(q_values, latent_values_2, acc_dtype=I.f32, transpose_rhs=True)
        exp_lengths = I.exp(
            I.select(I.indices(members_3) < lengths_value, (product_6 + product_5) * scale, -I.inf)
            - lengths_term[:, None],
        )
        lengths_sum = I.reduce.sum(exp_lengths, axis=1)
        exp_lengths_2 = I.exp(rotary_term - I.select(lengths_term == -I.inf, 0.0, lengths_term)[:, None])
        lengths_sum_2 = I.reduce.sum(exp_lengths_2, axis=1)
        product_7 = I.matmul(I.cast(exp_lengths, I.f16), latent_values_2, acc_dtype=I.f32)
        product_8 = I.matmul(I.cast(exp_lengths_2, I.f16), latent_values, acc_dtype=I.f32)
        out[b, h, coordinates] = I.cast((product_8 + product_7) / (lengths_sum_2 + lengths_sum)[:, None], I.f16)
