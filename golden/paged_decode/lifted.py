"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def paged_decode_state(
    q: I.In[I.f16, ("B", "H", "G", "P")],
    keys: I.In[I.f16, ("V", 16, "H", "P")],
    values: I.In[I.f16, ("V_2", 16, "H", "P")],
    pages: I.In[I.i32, ("B", "M")],
    lengths: I.In[I.i32, ("B",)],
    out: I.Out[I.f16, ("B", "H", "G", "P")],
):
    B, H, G, P = q.shape
    M = pages.shape[1]
    g = I.domain(0, G)
    coordinates = I.domain(0, P)
    coordinates_2 = I.domain(0, 16)
    for b in I.parallel(I.domain(0, B)):
        for h in I.parallel(I.domain(0, H)):
            members = I.domain(
                0,
                I.minimum(
                    I.minimum(
                        M * 16 - I.maximum(0, I.minimum(M * 16, I.cast(lengths[b], I.index))) // 64 * 64,
                        I.cast(lengths[b], I.index)
                        - I.maximum(0, I.minimum(M * 16, I.cast(lengths[b], I.index))) // 64 * 64,
                    ),
                    I.maximum(
                        0,
                        (I.minimum(M * 16, I.cast(lengths[b], I.index)) + 63) // 64
                        - I.maximum(0, I.minimum(M * 16, I.cast(lengths[b], I.index))) // 64,
                    )
                    * 64,
                ),
            )
            members_2 = I.domain(0, I.maximum(0, I.minimum(M * 16, I.cast(lengths[b], I.index))) // 64 * 4)
            members_3 = I.domain(
                0,
                I.minimum(
                    M * 16 - I.maximum(0, I.minimum(M * 16, I.cast(lengths[b], I.index))) // 64 * 64,
                    I.maximum(
                        0,
                        (I.minimum(M * 16, I.cast(lengths[b], I.index)) + 63) // 64
                        - I.maximum(0, I.minimum(M * 16, I.cast(lengths[b], I.index))) // 64,
                    )
                    * 64,
                ),
            )
            lengths_value = I.cast(lengths[b], I.index)
            q_values = q[b, h, g, coordinates]
            product = I.matmul(
                q_values,
                keys[
                    I.cast(
                        pages[b, I.indices(members) // 16 + I.maximum(0, I.minimum(M * 16, lengths_value)) // 64 * 4],
                        I.index,
                    ),
                    I.indices(members) % 16,
                    h,
                    coordinates,
                ],
                acc_dtype=I.f32,
                transpose_rhs=True,
            )
            lengths_max = I.reduce.max(product, axis=1)
            pages_values = I.cast(pages[b, members_2], I.index)
            product_2 = I.contract(
                q_values, keys[pages_values, coordinates_2, h, coordinates], reduce=((1, 2),), acc_dtype=I.f32
            )
            lengths_max_2 = I.reduce.max(product_2, axis=(1, 2))
            maximum_lengths = I.maximum(lengths_max_2, lengths_max)
            lengths_term = I.select(maximum_lengths == -I.inf, 0.0, maximum_lengths)
            pages_values_2 = I.cast(
                pages[b, I.indices(members_3) // 16 + I.maximum(0, I.minimum(M * 16, lengths_value)) // 64 * 4], I.index
            )
            product_3 = I.matmul(
                q_values,
                keys[pages_values_2, I.indices(members_3) % 16, h, coordinates],
                acc_dtype=I.f32,
                transpose_rhs=True,
            )
            exp_lengths = I.exp(
                I.select(
                    I.indices(members_3) + I.maximum(0, I.minimum(M * 16, lengths_value)) // 64 * 64 < lengths_value,
                    product_3,
                    -I.inf,
                )
                - lengths_term[:, None],
            )
            lengths_sum = I.reduce.sum(exp_lengths, axis=1)
            exp_lengths_2 = I.exp(product_2 - I.select(lengths_term == -I.inf, 0.0, lengths_term)[:, None, None])
            lengths_sum_2 = I.reduce.sum(exp_lengths_2, axis=(1, 2))
            product_4 = I.matmul(
                I.cast(exp_lengths, I.f16),
                values[pages_values_2, I.indices(members_3) % 16, h, coordinates],
                acc_dtype=I.f32,
            )
            product_5 = I.contract(
                I.cast(exp_lengths_2, I.f16),
                values[pages_values, coordinates_2, h, coordinates],
                reduce=((1, 0), (2, 1)),
                acc_dtype=I.f32,
            )
            out[b, h, g, coordinates] = I.cast((product_5 + product_4) / (lengths_sum_2 + lengths_sum)[:, None], I.f16)
