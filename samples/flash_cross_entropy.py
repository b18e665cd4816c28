"""Cross entropy of a linear classifier without its logits in memory: the vocabulary is folded slice by slice.

A slice of the vocabulary gives, for every token, the largest logit, the sum of exponentials below it and the logit of
the label if the slice holds it. Two such summaries merge into that of both slices.
"""

import intent
import intent.language as I

CASES = [
    {"T": 5, "D": 19, "V": 37},
    {"T": 16, "D": 16, "V": 64},
    {"T": 1, "D": 1, "V": 1},
    {"T": 0, "D": 4, "V": 5},
    {"T": 3, "D": 0, "V": 4},
]
LARGE = [{"T": 131, "D": 67, "V": 2003}]


@intent.fn
def summarize(weights, words, hidden, label):
    logits = I.matmul(hidden, weights, acc_dtype=I.f32, transpose_rhs=True)
    largest = I.reduce.max(logits, axis=1)
    total = I.reduce.sum(I.exp(logits - largest[:, None]), axis=1)
    chosen = I.reduce.sum(I.mask(logits, words[None, :] == label[:, None], 0.0), axis=1)
    return I.record(largest=largest, total=total, chosen=chosen)


@intent.fn
def merge(a, b):
    largest = I.maximum(a.largest, b.largest)
    total = a.total * I.exp(a.largest - largest) + b.total * I.exp(b.largest - largest)
    return I.record(largest=largest, total=total, chosen=a.chosen + b.chosen)


@intent.fn
def nothing(tokens):
    return I.record(
        largest=I.full((tokens,), -1e30, I.f32), total=I.zeros((tokens,), I.f32), chosen=I.zeros((tokens,), I.f32)
    )


@intent.kernel
def flash_cross_entropy(
    hidden: I.In[I.f16, ("T", "D")],
    weights: I.In[I.f16, ("V", "D")],
    label: I.In[I.i32, ("T",)],
    loss: I.Out[I.f32, ("T",)],
):
    T = hidden.shape[0]
    tokens = I.domain(0, T)
    words = I.domain(0, weights.shape[0])
    summary = I.region_fold(
        source=(weights[words, :], I.indices(words)),
        axis=0,
        summarize=summarize,
        combine=merge,
        identity=nothing(T),
        operands=(hidden[tokens, :], I.cast(label[tokens], I.index)),
    )
    loss[tokens] = summary.largest + I.log(summary.total) - summary.chosen


def inputs(rng, case):
    return {"label": rng.integers(0, case["V"], case["T"])}


FINITE = ["hidden", "weights"]


def reference(hidden, weights, label):
    import numpy as np

    logits = hidden.astype(np.float64) @ weights.astype(np.float64).T
    chosen = logits[np.arange(len(label)), label]
    return (np.logaddexp.reduce(logits, axis=1, initial=-np.inf) - chosen).astype(np.float32)
