"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def cross_entropy(
    logits: I.In[I.bf16, ("M", "V")],
    target: I.In[I.i64, ("M",)],
    loss: I.Out[I.f32, ("M",)],
):
    M, V = logits.shape
    v = I.domain(0, V)
    for m in I.parallel(I.domain(0, M)):
        target_value = I.cast(target[m], I.index)
        if target_value + 100 == 0:
            loss[m] = 0.0
        if target_value + 100 != 0:
            logits_f32 = I.cast(logits[m, v], I.f32)
            logits_max = I.reduce.max(logits_f32, axis=0)
            logits_sum = I.reduce.sum(I.exp(logits_f32 - logits_max), axis=0)
            loss[m] = (
                I.log(logits_sum)
                + logits_max
                - I.cast(
                    I.gather(logits, (m, target_value), valid=(0 <= target_value) & (target_value < V), fill=0.0), I.f32
                )
            )
