"""Nussinov's dynamic program for the folding of RNA: the most pairs among the bases i to j, for all i <= j.

All stretches of one length are one launch: they depend on shorter ones only. `best` holds the stretch of length d that
begins at i at [d, i], so that neighbours lie side by side; the table of both ends is made of it last.
"""

import intent
import intent.language as I

SIZES = {"S": {"N": 40}, "M": {"N": 90}}
CASES = [{"N": 7}, {"N": 16}, {"N": 1}]


@intent.kernel
def stretches(length: I.index, bases: I.In[I.i32, ("N",)], best: I.InOut[I.i32, ("N", "N")]):
    """`length` is the distance of the ends. A pair needs a base between them."""
    N = bases.shape[0]
    first = I.domain(0, N - length)
    i = I.indices(first)
    cuts = I.domain(0, length)
    cut = I.indices(cuts)[:, None]
    found = I.reduce.max(best[cuts, first] + best[length - 1 - cut, i + cut + 1], axis=0)
    if length > 1:
        pair = I.cast(bases[first] + bases[i + length] == 3, I.i32)
        found = I.maximum(found, best[length - 2, i + 1] + pair)
    best[length, first] = found


@intent.kernel
def clear(best: I.Out[I.i32, ("N", "N")]):
    best[:, :] = 0


@intent.kernel
def by_ends(best: I.In[I.i32, ("N", "N")], table: I.Out[I.i32, ("N", "N")]):
    N, _ = best.shape
    for i, j in I.parallel((I.domain(0, N), I.domain(0, N))):
        table[i, j] = best[j - i, i] if j >= i else 0


def build(context):
    start = context.compile("clear", clear)
    step = context.compile("stretches", stretches)
    finish = context.compile("by_ends", by_ends)

    def nussinov(count, bases):
        best = context.empty((count, count), I.i32)
        start(best)
        for length in range(1, count):
            step(length, bases, best)
        return finish.run(best)

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
