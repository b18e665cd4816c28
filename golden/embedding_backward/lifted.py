"""Lifted from module.py."""

import intent
import intent.language as I


@intent.kernel
def embedding_backward(
    word: I.In[I.i32, ("T",)],
    gradient: I.In[I.f16, ("T", "D")],
    table: I.InOut[I.f32, ("V", "D")],
):
    T = word.shape[0]
    D = gradient.shape[1]
    V = table.shape[0]
    d = I.domain(0, D)
    for t in I.parallel(I.domain(0, T)):
        word_value = I.cast(word[t], I.index)
        if (0 <= word_value) & (word_value < V) & (word_value != 0):
            I.scatter_reduce(table, (word_value, d), I.cast(gradient[t, d], I.f32), I.add)
