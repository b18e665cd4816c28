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
def gumbel_sampling(
    logits: I.In[I.f32, ("M", "N")],
    out: I.Out[I.i64, ("M",)],
    temperature: I.f32,
    seed: I.u64,
    BLOCK_N: I.Constexpr[int] = 8192,
):
    M, N = logits.shape
    block_n = I.domain(0, BLOCK_N)
    for m in I.parallel(I.domain(0, M)):
        noisy_argmax_partial = I.zeros((BLOCK_N,), I.i64)
        noisy_max_partial = I.full((BLOCK_N,), -I.inf, I.f32)
        for start_n in range((BLOCK_N + N - 1) // BLOCK_N):
            value_term = BLOCK_N * start_n + I.indices(block_n) < N
            logits_term = (
                I.select(value_term, I.gather(logits, (m, BLOCK_N * start_n + I.indices(block_n)), valid=value_term) / temperature - I.log(I.log(I.cast(I.random.bits(seed, BLOCK_N * start_n + N * m + I.indices(block_n)) >> 8, I.f32) * 5.9604645e-08 + 2.9802322e-08) * -1.0), -I.inf)
            )
            logits_term_2 = (
                (noisy_max_partial == noisy_max_partial) & (I.cast(logits_term <= noisy_max_partial, I.index) == 0)
            )
            noisy_argmax_partial = (
                I.select(logits_term_2, I.cast(BLOCK_N * start_n + I.indices(block_n), I.i64), noisy_argmax_partial)
            )
            noisy_max_partial = I.select(logits_term_2, logits_term, noisy_max_partial)
        out[m] = (
            I.reduce((noisy_max_partial, noisy_argmax_partial), axis=0, identity=(-I.inf, 9223372036854775807), combine=_arg_max)[1]
        )
