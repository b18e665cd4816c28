"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def cross_entropy_backward(
    logits: I.InOut[I.f32, ("M", "V")],
    label: I.In[I.i64, ("M",)],
    upstream: I.In[I.f32, ("M",)],
    smoothing: I.f32,
):
    M, V = logits.shape
    v = I.domain(0, V)
    for m in I.parallel(I.domain(0, M)):
        label_value = I.cast(label[m], I.index)
        if label_value + 100 == 0:
            logits[m, v] = 0.0
        if label_value + 100 != 0:
            logits_values = logits[m, v]
            logits_max = I.reduce.max(logits_values, axis=0)
            exp_logits = I.exp(logits_values - logits_max)
            logits_sum = I.reduce.sum(exp_logits, axis=0)
            logits[m, v] = (
                exp_logits / logits_sum
                - (smoothing / I.cast(V, I.f32) + I.select(label_value == I.indices(v), 1.0 - smoothing, 0.0))
            ) * upstream[m]
