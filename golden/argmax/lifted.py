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
def argmax(
    scores: I.In[I.f32, ("B", "P", "C")],
    best: I.Out[I.f32, ("B", "P")],
    label: I.Out[I.i64, ("B", "P")],
):
    B, P, C = scores.shape
    coordinates = I.domain(0, 256)
    for b in I.parallel(I.domain(0, B)):
        for p in I.parallel(I.domain(0, P)):
            scores_argmax_partial = I.zeros((256,), I.i64)
            values_partial = I.full((256,), -I.inf, I.f32)
            for start_c in range((C + 255) // 256):
                scores_values = (
                    I.gather(scores, (b, p, start_c * 256 + I.indices(coordinates)), valid=start_c * 256 + I.indices(coordinates) < C, fill=-I.inf)
                )
                scores_term = (
                    (values_partial == values_partial) & (I.cast(scores_values <= values_partial, I.index) == 0)
                )
                scores_argmax_partial = (
                    I.select(scores_term, I.cast(start_c * 256 + I.indices(coordinates), I.i64), scores_argmax_partial)
                )
                values_partial = I.select(scores_term, scores_values, values_partial)
            value_combined, value_combined_2 = (
                I.reduce((values_partial, scores_argmax_partial), axis=0, identity=(-I.inf, 9223372036854775807), combine=_arg_max)
            )
            best[b, p] = value_combined
            label[b, p] = value_combined_2
