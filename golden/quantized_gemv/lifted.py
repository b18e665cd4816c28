"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def quantize_activations(
    x: I.In[I.f32, ("G", "V")],
    records: I.Out[I.u8, ("G", 292)],
    BLOCK_I_2: I.Constexpr[int] = 256,
):
    G = x.shape[0]
    block_i_2 = I.domain(0, BLOCK_I_2)
    coordinates = I.domain(0, 16)
    for g in I.parallel(I.domain(0, G)):
        for group in I.parallel(I.domain(0, 292)):
            x_values = x[g, block_i_2]
            x_max = I.reduce.max(x_values * -1.0, axis=0)
            x_max_2 = I.reduce.max(x_values, axis=0)
            x_term = I.select(x_max_2 > x_max, x_max_2, x_max * -1.0)
            x_term_2 = x_term == 0.0
            x_term_3 = I.select(x_term_2, 0.0, -127.0 / I.select(x_term_2, 1.0, x_term))
            x_sum = I.reduce.sum(
                (
                    I.bitcast(x[g, I.indices(coordinates) + (group // 2 + 14) % 16 * 16] * x_term_3 + 12582912.0, I.i32)
                    & 8388607
                )
                - 4194304,
                axis=0,
            )
            records[g, group] = I.select(
                group < 4,
                I.cast(
                    I.bitcast(I.select(x_term_2, 0.0, 1.0 / I.select(x_term_2, 1.0, x_term_3)), I.u32)
                    >> I.cast(group % 4 * 8, I.u32)
                    & 255,
                    I.u8,
                ),
                I.select(
                    group < 260,
                    I.cast(
                        (I.bitcast(x[g, (group + 252) % 256] * x_term_3 + 12582912.0, I.i32) & 8388607) - 4194304, I.u8
                    ),
                    I.cast(I.cast(x_sum, I.u16) >> I.cast(group % 2, I.u16) * 8 & 255, I.u8),
                ),
            )


@intent.kernel
def quantized_gemv(
    weights: I.In[I.u8, ("N", "G", "K")],
    activations: I.In[I.u8, ("G", "V")],
    y: I.Out[I.f32, ("N",)],
    BLOCK_I: I.Constexpr[int] = 256,
    BLOCK_I_2: I.Constexpr[int] = 16,
):
    N = weights.shape[0]
    G = weights.shape[1]
    n = I.domain(0, N)
    g = I.domain(0, G)
    block_i_2 = I.domain(0, BLOCK_I_2)
    block_i = I.domain(0, BLOCK_I)
    weights_i32 = I.cast(weights[n, g, I.indices(block_i_2) // 2 % 4 + 8], I.i32)
    activations_sum = I.reduce.sum(
        I.select(
            I.indices(block_i_2) // 8 == 0,
            weights_i32 & 63,
            I.cast(weights[n, g, I.indices(block_i_2) // 2 % 4 + 12], I.i32) >> 4 | weights_i32 >> 6 << 4,
        )
        * I.cast(
            I.bitcast(
                I.cast(activations[g, I.indices(block_i_2) * 2 + 260], I.u16)
                | I.cast(activations[g, I.indices(block_i_2) * 2 + 261], I.u16) << 8,
                I.i16,
            ),
            I.i32,
        ),
        axis=2,
    )
    weights_i32_2 = I.cast(weights[n, g, I.indices(block_i) // 32 % 4 + 4], I.i32)
    activations_sum_2 = I.reduce.sum(
        I.select(
            I.indices(block_i) // 128 == 0,
            weights_i32_2 & 63,
            I.cast(weights[n, g, I.indices(block_i) // 32 % 4 + 12], I.i32) & 15 | weights_i32_2 >> 6 << 4,
        )
        * (
            I.cast(
                weights[n, g, I.indices(block_i) // 64 * 32 + I.indices(block_i) % 32 + 16]
                >> I.cast(I.indices(block_i) // 32 % 2, I.u8) * 4
                & 15,
                I.i32,
            )
            * I.cast(I.bitcast(activations[g, I.indices(block_i) + 4], I.i8), I.i32)
        ),
        axis=2,
    )
    y[n] = I.reduce.sum(
        I.bitcast(
            I.cast(activations[g, 0], I.u32)
            | I.cast(activations[g, 1], I.u32) << 8
            | I.cast(activations[g, 2], I.u32) << 16
            | I.cast(activations[g, 3], I.u32) << 24,
            I.f32,
        )
        * (
            I.cast(I.bitcast(I.cast(weights[n, g, 0], I.u16) | I.cast(weights[n, g, 1], I.u16) << 8, I.f16), I.f32)
            * I.cast(activations_sum_2, I.f32)
            - I.cast(I.bitcast(I.cast(weights[n, g, 2], I.u16) | I.cast(weights[n, g, 3], I.u16) << 8, I.f16), I.f32)
            * I.cast(activations_sum, I.f32)
        ),
        axis=1,
    )
