"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def segment_softmax(
    scores: I.In[I.f32, ("E", "H")],
    offsets: I.In[I.i32, ("P",)],
    out: I.Out[I.f32, ("E", "H")],
):
    E, H = scores.shape
    P = offsets.shape[0]
    for group in I.parallel(I.domain(0, I.maximum(0, P - 1))):
        for h in I.parallel(I.domain(0, H)):
            members = I.domain(
                I.maximum(0, I.cast(offsets[group], I.index)), I.minimum(E, I.cast(offsets[group + 1], I.index))
            )
            members_2 = I.domain(
                I.maximum(0, I.cast(offsets[group], I.index)), I.minimum(E, I.cast(offsets[group + 1], I.index))
            )
            offsets_value = I.cast(offsets[group + 1], I.index)
            offsets_value_2 = I.cast(offsets[group], I.index)
            scores_values = scores[members_2, h]
            offsets_max = I.reduce.max(scores_values, axis=0)
            offsets_sum = I.reduce.sum(I.exp(scores_values - offsets_max), axis=0)
            out[members, h] = I.exp(scores[members, h] - offsets_max) / offsets_sum
