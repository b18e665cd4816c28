"""Lifted from module.py."""

import intent
import intent.language as I


@intent.fn
def _arg_max(left, right):
    value, index = left
    other, other_index = right
    value_term = other != other
    value_term_2 = (
        (other > value)
        | value_term & (value == value)
        | ((other == value) | value_term & (value != value)) & (I.cast(other_index, I.index) < I.cast(index, I.index))
    )
    combined = I.select(value_term_2, other, value)
    combined_2 = I.select(value_term_2, other_index, index)
    return combined, combined_2


@intent.kernel
def top_k_state(
    x: I.In[I.f32, ("M", "N")],
    values: I.Out[I.f32, ("M", 4)],
    positions: I.Out[I.i64, ("M", 4)],
):
    M, N = x.shape
    coordinates = I.domain(0, 128)
    for m in I.parallel(I.domain(0, M)):
        value_term = I.indices(coordinates) < N
        v = I.gather(x, (m, coordinates), valid=value_term)
        for k in range(4):
            value_term_2 = I.select(value_term, v, -I.inf)
            value_combined, value_combined_2 = (
                I.reduce((value_term_2, I.cast(I.indices(coordinates), I.i64)), axis=0, identity=(-I.inf, 9223372036854775807), combine=_arg_max)
            )
            values[m, k] = value_combined
            positions[m, k] = value_combined_2
            v = I.select(I.cast(value_combined_2, I.index) == I.indices(coordinates), -I.inf, v)


@intent.kernel
def top_k_state_1024(
    x: I.In[I.f32, ("M", "N")],
    values: I.Out[I.f32, ("M", 4)],
    positions: I.Out[I.i64, ("M", 4)],
    BLOCK_COLUMNS: I.Constexpr[int],
):
    M, N = x.shape
    block_columns = I.domain(0, BLOCK_COLUMNS)
    for m in I.parallel(I.domain(0, M)):
        value_term = I.indices(block_columns) < N
        v = I.gather(x, (m, block_columns), valid=value_term)
        for k in range(4):
            value_term_2 = I.select(value_term, v, -I.inf)
            value_combined, value_combined_2 = (
                I.reduce((value_term_2, I.cast(I.indices(block_columns), I.i64)), axis=0, identity=(-I.inf, 9223372036854775807), combine=_arg_max)
            )
            values[m, k] = value_combined
            positions[m, k] = value_combined_2
            v = I.select(I.cast(value_combined_2, I.index) == I.indices(block_columns), -I.inf, v)
