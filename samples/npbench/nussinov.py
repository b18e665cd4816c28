"""Nussinov's dynamic program for the folding of RNA: the most pairs among the bases i to j, for all i <= j.

table[i, j] depends on shorter stretches only: all stretches of one length are one launch.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 40}, "M": {"N": 90}}
CASES = [{"N": 7}, {"N": 16}, {"N": 1}]


@intent.kernel
def stretches(length: I.index, bases: I.In[I.i32, ("N",)], table: I.InOut[I.i32, ("N", "N")]):
    N = bases.shape[0]
    for i in I.parallel(I.domain(0, N - length)):
        j = i + length
        best = I.maximum(table[i, j - 1], table[i + 1, j])
        inner = table[i + 1, j - 1]
        if length > 1:
            inner = inner + I.cast(bases[i] + bases[j] == 3, I.i32)
        best = I.maximum(best, inner)
        for k in range(i + 1, j):
            best = I.maximum(best, table[i, k] + table[k + 1, j])
        table[i, j] = best


@intent.kernel
def clear(table: I.Out[I.i32, ("N", "N")]):
    table[:, :] = 0


def build(context):
    start = context.compile("clear", clear)
    step = context.compile("stretches", stretches)

    def nussinov(count, bases):
        table = context.empty((count, count), I.i32)
        start(table)
        for length in range(1, count):
            step(length, bases, table)
        return table

    return nussinov


def inputs(rng, case):
    import numpy as np

    return {"count": case["N"], "bases": rng.integers(0, 4, case["N"]).astype(np.int32)}


def reference(count, bases):
    import numpy as np

    table = np.zeros((count, count), np.int32)
    for i in reversed(range(count)):
        for j in range(i + 1, count):
            pair = int(bases[i] + bases[j] == 3) if i < j - 1 else 0
            found = [table[i, j - 1], table[i + 1, j], table[i + 1, j - 1] + pair]
            found += [table[i, k] + table[k + 1, j] for k in range(i + 1, j)]
            table[i, j] = max(found)
    return table
