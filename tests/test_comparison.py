"""The canonical form: what makes two programs one, and what must keep them apart, rule by rule."""

from __future__ import annotations

import textwrap

import pytest

from translators.comparison.sides import Side, read_sides
from translators.comparison.verdict import Verdict, compare

HEAD = """
import intent
import intent.language as I


@intent.fn
def twice(v):
    return v + v


@intent.fn
def larger(a, b):
    return I.maximum(a, b)


@intent.fn
def plus(a, b):
    return a + b


@intent.kernel
def kernel({parameters}):
"""
VECTORS = 'x: I.In[I.f32, ("N",)], y: I.In[I.f32, ("N",)], n: I.index, s: I.f32, out: I.Out[I.f32, ("N",)]'
MATRICES = 'x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M", "N")]'
ROWS = 'x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)]'
HALVES = 'x: I.In[I.f16, ("N",)], y: I.In[I.f16, ("N",)], out: I.Out[I.f16, ("N",)]'
WHOLE = 'x: I.In[I.i32, ("N",)], y: I.In[I.i32, ("N",)], out: I.Out[I.i32, ("N",)]'
FLAT = 'x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M", "N")]'
IN_PLACE = 'x: I.InOut[I.f32, ("N",)], out: I.Out[I.f32, ("N",)]'
BYTES = 'x: I.In[I.u8, ("N",)], y: I.In[I.i8, ("N",)], out: I.Out[I.i32, ("N",)]'
PLACED = 'x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("N",)], out: I.InOut[I.f32, ("M",)]'
SEGMENTS = 'x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("M",)], out: I.Out[I.f32, ("M",)]'
FOURS = 'x: I.In[I.f32, ("M", 4)], out: I.Out[I.i32, ("M",)]'
TABLE = 'x: I.In[I.i32, ("N",)], out: I.Out[I.i32, ("B", "B")]'
COUNTS = 'x: I.In[I.f32, ("M", "N")], out: I.Out[I.i32, ("M",)]'
STORED = 'x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("M",)], out: I.Out[I.f32, ("N",)]'
IN_TURN = 'x: I.InOut[I.f32, ("M", "N")], y: I.In[I.f32, ("M", "N")]'
PLACED_INDEX = 'x: I.In[I.f32, ("N",)], n: I.index, out: I.Out[I.f32, ("N",)]'
BETWEEN = """
within = I.domain(0, x.shape[0])
for m in I.parallel(I.domain(0, at.shape[0] - 1)):
    begin, end = I.cast(at[m], I.index), I.cast(at[m + 1], I.index)
"""
SEGMENT_MAXIMUM = BETWEEN + "    out[m] = I.reduce.max(x[{members}], axis=0)"
SEGMENT_CONDITION = (
    BETWEEN
    + "    out[m] = I.reduce.max(x[{members}], axis=0)\n"
    + "    if m < 2:\n        out[m] = I.reduce.sum(x[within[begin:end]], axis=0)"
)
MASKED = (
    "M, N = x.shape\nc = I.domain(0, N)\nfor m in I.parallel(I.domain(0, M)):\n"
    "    v = I.mask(x[m, c], I.indices(c) <= m, -I.inf)\n"
)
NARROW = (
    "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    c = I.domain(0, I.minimum(N, m + 1))\n    v = x[m, c]\n"
)
WEIGHT = "    top = I.reduce.max(v, axis=0)\n    total = I.reduce.sum(I.exp(v - top), axis=0)\n"
OTHER = "    top = I.reduce.max(x[m, I.domain(0, N - 1)], axis=0)\n    total = I.reduce.sum(I.exp(v - top), axis=0)\n"
EACH = "    k = I.domain(0, N)\n    out[m, k] = I.exp(I.mask(x[m, k], I.indices(k) <= m, -I.inf) - top) / total"
SUMS = "M, N = x.shape\nfor n in I.parallel(I.domain(0, N)):\n    m = I.domain(0, M)\n    out[m, n] = "
INTEGERS = 'x: I.In[I.i32, ("M", "N")], out: I.Out[I.i32, ("M", "N")]'
PRODUCT = 'x: I.In[I.f32, ("M", "K")], y: I.In[I.f32, ("K", "N")], out: I.Out[I.f32, ("M", "N")]'


def program(parameters: str, body: str) -> Side:
    text = HEAD.format(parameters=parameters) + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"
    (side,) = read_sides(text, "kernel.py", None, {})
    return side


def verdict(parameters: str, first: str, second: str) -> Verdict:
    one, other = program(parameters, first), program(parameters, second)
    found = compare(one, other)
    assert compare(other, one).answer == found.answer
    assert compare(one, one).answer == compare(other, other).answer == "same"
    return found


SAME = {
    "an integer prefix as a scan and as sums": (
        INTEGERS,
        "out[:, :] = I.cumsum(x[:, :], axis=1)",
        SUMS + "I.reduce.sum(x[m, I.domain(0, n + 1)], axis=1)",
    ),
    "a suffix without the element itself": (
        INTEGERS,
        "out[:, :] = I.cumsum(x[:, :], axis=1, inclusive=False, reverse=True)",
        SUMS + "I.reduce.sum(x[m, I.indices(I.domain(n, N - 1)) + 1], axis=1)",
    ),
    "a running maximum": (
        MATRICES,
        "out[:, :] = I.cummax(x[:, :], axis=1)",
        SUMS + "I.reduce.max(x[m, I.domain(0, n + 1)], axis=1)",
    ),
    "the value at the position of a maximum": (
        ROWS,
        "M, N = x.shape\nout[:] = I.arg_reduce.max(x[:, :], axis=1)[0]",
        "M, N = x.shape\nout[:] = I.reduce.max(x[:, :], axis=1)",
    ),
    "weights divided by the sum of those that a mask leaves": (
        MATRICES,
        MASKED + WEIGHT + EACH,
        NARROW + WEIGHT + EACH,
    ),
    "a bound by the lesser of two": (
        VECTORS,
        "N = x.shape[0]\ni = I.domain(0, N)\nout[i] = I.select(I.indices(i) < I.minimum(n, N - 1), x[i], y[i])",
        "N = x.shape[0]\ni = I.domain(0, N)\n"
        "out[i] = I.select((I.indices(i) < n) & (I.indices(i) < N - 1), x[i], y[i])",
    ),
    "a count is not negative": (
        FOURS,
        "M = x.shape[0]\nm, c = I.domain(0, M), I.domain(0, 4)\n"
        "k = I.reduce.sum(I.cast(x[m, c] > 0.0, I.index), axis=1)\nout[m] = I.cast(I.select(k >= 0, 1, 2), I.i32)",
        "M = x.shape[0]\nm = I.domain(0, M)\nout[m] = I.full((M,), 1, I.i32)",
    ),
    "a count as i64 and as a coordinate": (
        FOURS,
        "M = x.shape[0]\nm, c = I.domain(0, M), I.domain(0, 4)\n"
        "out[m] = I.cast(I.cast(I.reduce.sum(I.cast(x[m, c] > 0.0, I.i64), axis=1), I.index) + 1, I.i32)",
        "M = x.shape[0]\nm, c = I.domain(0, M), I.domain(0, 4)\n"
        "out[m] = I.cast(I.reduce.sum(I.cast(x[m, c] > 0.0, I.index), axis=1) + 1, I.i32)",
    ),
    "names": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nv = x[i]\nout[i] = v * s",
        "there = I.domain(0, out.shape[0])\nout[there] = x[there] * s",
    ),
    "helpers": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = twice(x[i])",
        "i = I.domain(0, x.shape[0])\nv = x[i]\nout[i] = v + v",
    ),
    "commutative operands": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = I.maximum(x[i] * s, y[i]) + x[i]",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + I.maximum(y[i], s * x[i])",
    ),
    "a difference is the sum with the opposite": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] - y[i] * s",
        "i = I.domain(0, x.shape[0])\nout[i] = -(y[i] * s) + x[i]",
    ),
    "comparisons turned round": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(x[i] < y[i], x[i], s)",
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(y[i] > x[i], x[i], s)",
    ),
    "a selection turned round": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(not (x[i] < s), x[i], y[i])",
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(x[i] < s, y[i], x[i])",
    ),
    "a domain that begins elsewhere": (
        VECTORS,
        "i = I.domain(1, x.shape[0])\nout[i] = x[I.indices(i) - 1]",
        "i = I.domain(0, x.shape[0] - 1)\nout[I.indices(i) + 1] = x[i]",
    ),
    "parallel points and a tile": (
        MATRICES,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = x[m, n] * y[m, n]",
        "M, N = x.shape\nn = I.domain(0, N)\nfor m in I.parallel(I.domain(0, M)):\n    out[m, n] = x[m, n] * y[m, n]",
    ),
    "a loop that stores at distinct elements": (
        VECTORS,
        "for i in range(x.shape[0]):\n    out[i] = x[i] * s",
        "for i in I.parallel(I.domain(0, x.shape[0])):\n    out[i] = x[i] * s",
    ),
    "a condition as a range": (
        VECTORS,
        "for i in I.parallel(I.domain(0, x.shape[0])):\n    if i < n:\n        out[i] = x[i]",
        "for i in I.parallel(I.domain(0, I.minimum(n, x.shape[0]))):\n    out[i] = x[i]",
    ),
    "two branches as a selection": (
        VECTORS,
        "for i in I.parallel(I.domain(0, x.shape[0])):\n    if x[i] > s:\n        out[i] = x[i]\n"
        "    else:\n        out[i] = y[i]",
        "for i in I.parallel(I.domain(0, x.shape[0])):\n    out[i] = I.select(x[i] > s, x[i], y[i])",
    ),
    "transposes": (
        MATRICES,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = I.transpose(I.transpose(x[m, n]))",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = x[m, n]",
    ),
    "a flat coordinate in two parts": (
        FLAT,
        "M, N = x.shape\nfor i in I.parallel(I.domain(0, M * N)):\n    out[i // N, i % N] = x[i // N, i % N] + 1.0",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = x[m, n] + 1.0",
    ),
    "reshapes there and back": (
        FLAT,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\n"
        "out[m, n] = I.reshape(I.reshape(x[m, n], (M * N,)), (M, N))",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = x[m, n]",
    ),
    "a sum over both axes at once or one by one": (
        'x: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ()]',
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[()] = I.reduce.sum(x[m, n], axis=(0, 1))",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\n"
        "out[()] = I.reduce.sum(I.reduce.sum(x[m, n], axis=1), axis=0)",
    ),
    "a product of matrices and a sum of products": (
        PRODUCT,
        "M, K = x.shape\nN = y.shape[1]\nm, n, k = I.domain(0, M), I.domain(0, N), I.domain(0, K)\n"
        "out[m, n] = I.matmul(x[m, k], y[k, n], acc_dtype=I.f32)",
        "M, K = x.shape\nN = y.shape[1]\nn, k = I.domain(0, N), I.domain(0, K)\n"
        "for m in I.parallel(I.domain(0, M)):\n    out[m, n] = I.vecmat(x[m, k], y[k, n], acc_dtype=I.f32)",
    ),
    "a maximum by a loop": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    best = I.cast(-I.inf, I.f32)\n"
        "    for n in range(N):\n        best = I.maximum(best, x[m, n])\n    out[m] = best",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.max(x[m, n], axis=1)",
    ),
    "carries in another order, and an idle one": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    a = I.cast(1.0, I.f32)\n    b = I.cast(2.0, I.f32)\n"
        "    for n in range(N):\n        a, b = a * b + x[m, n], a - b\n    out[m] = a",
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    b = I.cast(2.0, I.f32)\n    a = I.cast(1.0, I.f32)\n"
        "    c = I.cast(0.0, I.f32)\n    for n in range(N):\n        c = c + 1.0\n        old = b\n"
        "        b = a - b\n        a = x[m, n] + old * a\n    out[m] = a",
    ),
    "half precision computes in single": (
        HALVES,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + y[i]",
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(I.cast(x[i], I.f32) + I.cast(y[i], I.f32), I.f16)",
    ),
    "a conversion there and back": (
        HALVES,
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(I.cast(x[i], I.f32), I.f16)",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]",
    ),
    "sums of integers in any order": (
        WHOLE,
        "i = I.domain(0, x.shape[0])\nout[i] = (x[i] + y[i]) + 3",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + (3 + y[i])",
    ),
    "a guard that only keeps in bounds": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nj = I.indices(i) + 1\n"
        "out[i] = I.gather(x, (j,), valid=(j >= 0) & (j < x.shape[0]))",
        "i = I.domain(0, x.shape[0])\nj = I.indices(i) + 1\nout[i] = I.gather(x, (j,), valid=j < x.shape[0])",
    ),
    "an update in place": (
        IN_PLACE,
        "i = I.domain(0, x.shape[0])\nv = x[i]\nx[i] = v * 2.0\nout[i] = v",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]\nx[i] = x[i] * 2.0",
    ),
    "a value read back": (
        IN_PLACE,
        "i = I.domain(0, x.shape[0])\nx[i] = x[i] * 2.0\nout[i] = x[i] + 1.0",
        "i = I.domain(0, x.shape[0])\nv = x[i] * 2.0\nx[i] = v\nout[i] = v + 1.0",
    ),
    "bits before and after a value is widened": (
        BYTES,
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(x[i] & 3, I.i32) + I.cast(y[i] >> 2, I.i32)",
        "i = I.domain(0, x.shape[0])\nout[i] = (I.cast(x[i], I.i32) & 3) + (I.cast(y[i], I.i32) >> 2)",
    ),
    "a choice before and after it is widened": (
        BYTES,
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(I.select(x[i] < 9, x[i], x[i] & 7), I.i32)",
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(x[i] < 9, I.cast(x[i], I.i32), I.cast(x[i] & 7, I.i32))",
    ),
    "a product with one": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] * 1.0 / 1.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]",
    ),
    "a condition that holds wherever there is a place to store": (
        PLACED,
        "i = I.domain(0, x.shape[0])\np = I.cast(at[i], I.index)\n"
        "I.scatter_reduce(out, (p,), I.select((0 <= p) & (p < out.shape[0]), x[i], 0.0), I.add)",
        "i = I.domain(0, x.shape[0])\nI.scatter_reduce(out, (I.cast(at[i], I.index),), x[i], I.add)",
    ),
    "the end of a range that may lie before its beginning": (
        SEGMENTS,
        "for m in I.parallel(I.domain(0, out.shape[0])):\n    e = I.cast(at[m], I.index)\n"
        "    out[m] = I.reduce.sum(x[I.domain(m, I.minimum(x.shape[0], I.maximum(m, e)))], axis=0)",
        "for m in I.parallel(I.domain(0, out.shape[0])):\n    e = I.cast(at[m], I.index)\n"
        "    out[m] = I.reduce.sum(x[I.domain(m, I.minimum(x.shape[0], e))], axis=0)",
    ),
    "a histogram as sums": (
        'x: I.In[I.i32, ("N",)], out: I.Out[I.i32, ("B",)]',
        "B = out.shape[0]\nout[:] = I.histogram(x[:], bins=B, valid=x[:] >= 0, count_dtype=I.i32)",
        "n, b = I.domain(0, x.shape[0]), I.domain(0, out.shape[0])\n"
        "hit = (I.cast(x[n], I.index)[:, None] == I.indices(b)[None, :]) & (x[n] >= 0)[:, None]\n"
        "out[b] = I.reduce.sum(I.cast(hit, I.i32), axis=0)",
    ),
    "rows of blocks": (
        VECTORS,
        "N = x.shape[0]\nfor g in I.parallel(I.domain(0, (N + 31) // 32)):\n"
        "    i = I.domain(g * 32, I.minimum(g * 32 + 32, N))\n    out[i] = x[i] + 1.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + 1.0",
    ),
    "a sum over blocks": (
        ROWS,
        "M, N = x.shape\nb, j = I.domain(0, (N + 31) // 32), I.domain(0, 32)\n"
        "for m in I.parallel(I.domain(0, M)):\n    at = I.indices(b)[:, None] * 32 + I.indices(j)\n"
        "    v = I.gather(x, (m, at), valid=at < N, fill=0.0)\n"
        "    out[m] = I.reduce.sum(I.reduce.sum(v, axis=1), axis=0)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.sum(x[m, n], axis=1)",
    ),
    "a loop for each element": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nv = x[i]\nw = y[i]\nfor k in range(3):\n    v, w = v * w + y[i], v\nout[i] = v",
        "for i in I.parallel(I.domain(0, x.shape[0])):\n    v = x[i]\n    w = y[i]\n"
        "    for k in range(3):\n        v, w = v * w + y[i], v\n    out[i] = v",
    ),
    "the largest of truth values": (
        FOURS,
        "m, n = I.domain(0, x.shape[0]), I.domain(0, 4)\nout[m] = I.reduce.max(I.cast(x[m, n] > 0.0, I.i32), axis=1)",
        "m, n = I.domain(0, x.shape[0]), I.domain(0, 4)\nout[m] = I.cast(I.reduce.any(x[m, n] > 0.0, axis=1), I.i32)",
    ),
    "the least of truth values": (
        FOURS,
        "m, n = I.domain(0, x.shape[0]), I.domain(0, 4)\nout[m] = ~I.reduce.max(~I.cast(x[m, n] > 0.0, I.i32), axis=1)",
        "m, n = I.domain(0, x.shape[0]), I.domain(0, 4)\nout[m] = I.cast(I.reduce.all(x[m, n] > 0.0, axis=1), I.i32)",
    ),
    "a subregion that is stored, and its part within the source": (
        STORED,
        BETWEEN + "    rows = within[begin:end]\n    out[rows] = x[rows] * 2.0",
        BETWEEN + "    rows = I.domain(I.maximum(0, begin), I.minimum(x.shape[0], end))\n    out[rows] = x[rows] * 2.0",
    ),
    "a subregion, and its part within the source": (
        SEGMENTS,
        SEGMENT_MAXIMUM.format(members="within[begin:end]"),
        SEGMENT_MAXIMUM.format(members="I.domain(I.maximum(0, begin), I.minimum(x.shape[0], end))"),
    ),
    "extrema within extrema": (
        PLACED_INDEX,
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(0, n + I.maximum(2, i - n))]",
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(I.maximum(0, i), n + 2)]",
    ),
    "extrema that are taken off, and what is added to all": (
        PLACED_INDEX,
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(0, n - I.maximum(2, i - n)) + I.maximum(2, i - n)]",
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(I.maximum(2, i - n), n)]",
    ),
    "independent points of a loop that writes what it reads, and coordinates": (
        IN_TURN,
        "M, N = x.shape\nfor n in I.parallel(I.domain(0, N)):\n    for m in range(M - 1):\n"
        "        x[m + 1, n] = x[m, n] + y[m, n]",
        "M, N = x.shape\nn = I.domain(0, N)\nfor m in range(M - 1):\n    x[m + 1, n] = x[m, n] + y[m, n]",
    ),
    "reads in a loop that writes nothing of what is read": (
        IN_TURN,
        "M, N = x.shape\nfor n in I.parallel(I.domain(0, N)):\n    total = I.cast(0, I.i32)\n"
        "    for m in range(M):\n        total = total + I.cast(x[m, n], I.i32)\n"
        "    for m in range(M - 1):\n        x[m, n] = x[m + 1, n]\n    x[M - 1, n] = I.cast(total, I.f32)",
        "M, N = x.shape\nrows = I.domain(0, M)\nfor n in I.parallel(I.domain(0, N)):\n"
        "    total = I.reduce.sum(I.cast(x[rows, n], I.i32), axis=0)\n"
        "    for m in range(M - 1):\n        x[m, n] = x[m + 1, n]\n    x[M - 1, n] = I.cast(total, I.f32)",
    ),
}

DIFFERENT = {
    "a prefix with and without the element itself": (
        INTEGERS,
        "out[:, :] = I.cumsum(x[:, :], axis=1)",
        SUMS + "I.reduce.sum(x[m, I.domain(0, n)], axis=1)",
        None,
    ),
    "a prefix and a suffix": (
        INTEGERS,
        "out[:, :] = I.cumsum(x[:, :], axis=1, reverse=True)",
        SUMS + "I.reduce.sum(x[m, I.domain(0, n + 1)], axis=1)",
        None,
    ),
    "a suffix that is one short": (
        INTEGERS,
        "out[:, :] = I.cumsum(x[:, :], axis=1, reverse=True)",
        SUMS + "I.reduce.sum(x[m, I.domain(n, N - 1)], axis=1)",
        None,
    ),
    "weights that are divided by nothing": (
        ROWS,
        MASKED + WEIGHT + "    out[m] = total",
        NARROW + WEIGHT + "    out[m] = total",
        None,
    ),
    "weights relative to what is not the row's own maximum": (
        MATRICES,
        MASKED + OTHER + EACH,
        NARROW + OTHER + EACH,
        None,
    ),
    "a sum of weights that divides something else": (
        MATRICES,
        MASKED + WEIGHT + "    out[m, I.domain(0, N)] = x[m, I.domain(0, N)] / total",
        NARROW + WEIGHT + "    out[m, I.domain(0, N)] = x[m, I.domain(0, N)] / total",
        None,
    ),
    "a bound by the greater of two": (
        VECTORS,
        "N = x.shape[0]\ni = I.domain(0, N)\nout[i] = I.select(I.indices(i) < I.maximum(n, N - 1), x[i], y[i])",
        "N = x.shape[0]\ni = I.domain(0, N)\n"
        "out[i] = I.select((I.indices(i) < n) & (I.indices(i) < N - 1), x[i], y[i])",
        None,
    ),
    "a sum that may be negative": (
        FOURS,
        "M = x.shape[0]\nm, c = I.domain(0, M), I.domain(0, 4)\n"
        "k = I.reduce.sum(I.cast(x[m, c], I.index), axis=1)\nout[m] = I.cast(I.select(k >= 0, 1, 2), I.i32)",
        "M = x.shape[0]\nm = I.domain(0, M)\nout[m] = I.full((M,), 1, I.i32)",
        None,
    ),
    "which coordinate a histogram counts": (
        TABLE,
        "B = out.shape[0]\nh = I.histogram(x[:], bins=B, valid=x[:] >= 0, count_dtype=I.i32)\n"
        "i, j = I.domain(0, B), I.domain(0, B)\nout[i, j] = h[i][:, None] + I.zeros((B, B), I.i32)",
        "B = out.shape[0]\nh = I.histogram(x[:], bins=B, valid=x[:] >= 0, count_dtype=I.i32)\n"
        "i, j = I.domain(0, B), I.domain(0, B)\nout[i, j] = h[j][None, :] + I.zeros((B, B), I.i32)",
        None,
    ),
    "rows of blocks, the last one left out": (
        VECTORS,
        "N = x.shape[0]\nfor g in I.parallel(I.domain(0, N // 32)):\n"
        "    i = I.domain(g * 32, I.minimum(g * 32 + 32, N))\n    out[i] = x[i] + 1.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + 1.0",
        None,
    ),
    "rows of blocks with gaps": (
        VECTORS,
        "N = x.shape[0]\nfor g in I.parallel(I.domain(0, (N + 31) // 32)):\n"
        "    i = I.domain(g * 32, I.minimum(g * 32 + 31, N))\n    out[i] = x[i] + 1.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + 1.0",
        None,
    ),
    "rows of blocks whose number is seen": (
        VECTORS,
        "N = x.shape[0]\nfor g in I.parallel(I.domain(0, (N + 31) // 32)):\n"
        "    i = I.domain(g * 32, I.minimum(g * 32 + 32, N))\n    out[i] = x[i] + I.cast(I.cast(g, I.i32), I.f32)",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + 1.0",
        None,
    ),
    "a loop whose elements depend on each other": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nv = x[i]\nfor k in range(3):\n    v = v + I.reduce.max(v, axis=0)\nout[i] = v",
        "for i in I.parallel(I.domain(0, x.shape[0])):\n    v = x[i]\n"
        "    for k in range(3):\n        v = v + v\n    out[i] = v",
        None,
    ),
    "the largest of truth values, of none at all": (
        COUNTS,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\n"
        "out[m] = I.reduce.max(I.cast(x[m, n] > 0.0, I.i32), axis=1)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\n"
        "out[m] = I.cast(I.reduce.any(x[m, n] > 0.0, axis=1), I.i32)",
        None,
    ),
    "a constant": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] * 2.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] * 2.5",
        "constant",
    ),
    "the sign of a zero that is a constant": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] * 0.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] * -0.0",
        None,
    ),
    "operands that do not commute": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] - y[i]",
        "i = I.domain(0, x.shape[0])\nout[i] = y[i] - x[i]",
        None,
    ),
    "a sum of floats in another order": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = (x[i] + y[i]) + s",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] + (y[i] + s)",
        None,
    ),
    "a factor drawn out of a sum": (
        ROWS,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.sum(x[m, n] * 3.0, axis=1)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.sum(x[m, n], axis=1) * 3.0",
        None,
    ),
    "an operator": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = I.maximum(x[i], s)",
        "i = I.domain(0, x.shape[0])\nout[i] = I.maximum_num(x[i], s)",
        "operation",
    ),
    "less and less or equal of floats": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(x[i] < s, x[i], y[i])",
        "i = I.domain(0, x.shape[0])\nout[i] = I.select(s < x[i], y[i], x[i])",
        None,
    ),
    "a bound": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]",
        "i = I.domain(0, x.shape[0] - 1)\nout[i] = x[i]",
        "coordinate or size",
    ),
    "a shifted coordinate": (
        VECTORS,
        "i = I.domain(1, x.shape[0])\nout[i] = x[I.indices(i) - 1]",
        "i = I.domain(1, x.shape[0])\nout[i] = x[i]",
        "coordinate or size",
    ),
    "an axis": (
        'x: I.In[I.f32, ("N", "N")], out: I.Out[I.f32, ("N",)]',
        "i, j = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])\nout[i] = I.reduce.sum(x[i, j], axis=1)",
        "i, j = I.domain(0, x.shape[0]), I.domain(0, x.shape[0])\nout[j] = I.reduce.sum(x[i, j], axis=0)",
        None,
    ),
    "a kind of reduction": (
        ROWS,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.sum(x[m, n], axis=1)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.max(x[m, n], axis=1)",
        "reduction",
    ),
    "a rounding": (
        ROWS,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.sum(x[m, n], axis=1)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\n"
        "out[m] = I.reduce.sum(I.cast(I.cast(x[m, n], I.f16), I.f32), axis=1)",
        None,
    ),
    "which row is reduced": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    out[m] = I.reduce.max(x[m, I.domain(0, N)], axis=0)",
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    out[m] = I.reduce.max(x[0, I.domain(0, N)], axis=0)",
        None,
    ),
    "a scan and a reduction": (
        MATRICES,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = I.cumsum(x[m, n], axis=1)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\n"
        "out[m, n] = I.reduce.sum(x[m, n], axis=1)[:, None] + 0.0 * x[m, n]",
        None,
    ),
    "the direction of a scan": (
        MATRICES,
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = I.cumsum(x[m, n], axis=1)",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m, n] = I.cumsum(x[m, n], axis=1, reverse=True)",
        None,
    ),
    "an effect that is missing": (
        IN_PLACE,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]\nx[i] = x[i] * 2.0",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]",
        "effect",
    ),
    "a value read before and after it is replaced": (
        IN_PLACE,
        "i = I.domain(0, x.shape[0])\nv = x[i]\nx[i] = v * 2.0\nout[i] = v",
        "i = I.domain(0, x.shape[0])\nx[i] = x[i] * 2.0\nout[i] = x[i]",
        None,
    ),
    "two stores that overlap, in another order": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nj = I.domain(0, n)\nout[i] = x[i]\nout[j] = y[j]",
        "i = I.domain(0, x.shape[0])\nj = I.domain(0, n)\nout[j] = y[j]\nout[i] = x[i]",
        None,
    ),
    "the last iteration that stores": (
        VECTORS,
        "for k in range(n):\n    out[0] = x[k]",
        "for k in range(n):\n    out[0] = x[n - 1 - k]",
        None,
    ),
    "two stores in one loop, or in two": (
        VECTORS,
        "for k in range(n):\n    out[k] = x[k]\n    out[k + 1] = y[k]",
        "for k in range(n):\n    out[k] = x[k]\nfor k in range(n):\n    out[k + 1] = y[k]",
        None,
    ),
    "what a carry begins with": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    a = I.cast(1.0, I.f32)\n"
        "    for n in range(N):\n        a = a * 0.5 + x[m, n]\n    out[m] = a",
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    a = I.cast(2.0, I.f32)\n"
        "    for n in range(N):\n        a = a * 0.5 + x[m, n]\n    out[m] = a",
        None,
    ),
    "which of two carries is stored": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    a, b = I.cast(1.0, I.f32), I.cast(2.0, I.f32)\n"
        "    for n in range(N):\n        a, b = b, a + x[m, n]\n    out[m] = a",
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    a, b = I.cast(1.0, I.f32), I.cast(2.0, I.f32)\n"
        "    for n in range(N):\n        a, b = b, a + x[m, n]\n    out[m] = b",
        None,
    ),
    "a divisor of a coordinate": (
        FLAT,
        "M, N = x.shape\nfor i in I.parallel(I.domain(0, M * N)):\n    out[i // N, i % N] = x[i // N, i % N] + 1.0",
        "M, N = x.shape\nfor i in I.parallel(I.domain(0, M * N)):\n    out[i // N, i % N] = x[i % M, i // M] + 1.0",
        None,
    ),
    "division of integers": (
        WHOLE,
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] // 3 + y[i]",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i] % 3 + y[i]",
        "operation",
    ),
    "bits that a sign is extended to": (
        BYTES,
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(y[i], I.i32) & 255",
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(y[i] & -1, I.i32)",
        None,
    ),
    "bits of two extensions": (
        BYTES,
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(x[i], I.i32) & I.cast(y[i], I.i32)",
        "i = I.domain(0, x.shape[0])\nout[i] = I.cast(x[i] & I.cast(y[i], I.u8), I.i32)",
        None,
    ),
    "one divided by a value": (
        VECTORS,
        "i = I.domain(0, x.shape[0])\nout[i] = 1.0 / x[i]",
        "i = I.domain(0, x.shape[0])\nout[i] = x[i]",
        None,
    ),
    "a condition on a place that is one short": (
        PLACED,
        "i = I.domain(0, x.shape[0])\np = I.cast(at[i], I.index)\n"
        "I.scatter_reduce(out, (p,), I.select((0 <= p) & (p < out.shape[0] - 1), x[i], 0.0), I.add)",
        "i = I.domain(0, x.shape[0])\nI.scatter_reduce(out, (I.cast(at[i], I.index),), x[i], I.add)",
        None,
    ),
    "the end of a range that is another's beginning": (
        SEGMENTS,
        "for m in I.parallel(I.domain(0, out.shape[0])):\n    e = I.cast(at[m], I.index)\n"
        "    out[m] = I.reduce.sum(x[I.domain(m, I.minimum(x.shape[0], I.maximum(m + 1, e)))], axis=0)",
        "for m in I.parallel(I.domain(0, out.shape[0])):\n    e = I.cast(at[m], I.index)\n"
        "    out[m] = I.reduce.sum(x[I.domain(m, I.minimum(x.shape[0], e))], axis=0)",
        None,
    ),
    "the maximum of a domain, and of its part within memory": (
        SEGMENTS,
        SEGMENT_MAXIMUM.format(members="I.domain(begin, end)"),
        SEGMENT_MAXIMUM.format(members="I.domain(I.maximum(0, begin), I.minimum(x.shape[0], end))"),
        None,
    ),
    "the maximum of a subregion that a condition decides on": (
        SEGMENTS,
        SEGMENT_CONDITION.format(members="I.domain(begin, end)"),
        SEGMENT_CONDITION.format(members="I.domain(I.maximum(0, begin), I.minimum(x.shape[0], end))"),
        None,
    ),
    "a maximum of what is more than a maximum, and of what is less": (
        PLACED_INDEX,
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(0, n + I.maximum(2, i - n))]",
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(0, n - I.maximum(2, i - n))]",
        None,
    ),
    "a maximum of what is less than a maximum, and than a minimum": (
        PLACED_INDEX,
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(0, n - I.maximum(2, i - n))]",
        "for i in range(x.shape[0]):\n    out[i] = x[I.maximum(0, n - I.minimum(2, i - n))]",
        None,
    ),
    "points of a loop that read what others write, and coordinates": (
        IN_TURN,
        "M, N = x.shape\nfor n in I.parallel(I.domain(0, N - 1)):\n    for m in range(M - 1):\n"
        "        x[m + 1, n] = x[m, n + 1] + y[m, n]",
        "M, N = x.shape\nn = I.domain(0, N - 1)\nfor m in range(M - 1):\n"
        "    x[m + 1, n] = x[m, I.indices(n) + 1] + y[m, n]",
        None,
    ),
    "reads in a loop that writes, and before it": (
        IN_TURN,
        "M, N = x.shape\nn = I.domain(0, N)\nfor m in range(M - 1):\n    x[m + 1, n] = x[m, n] + x[0, n]",
        "M, N = x.shape\nn = I.domain(0, N)\nfirst = x[0, n]\nfor m in range(M - 1):\n"
        "    x[m + 1, n] = x[m, n] + first",
        None,
    ),
}

REASSOCIATED = {
    "a prefix of floats as a scan and as sums": (
        MATRICES,
        "out[:, :] = I.cumsum(x[:, :], axis=1)",
        SUMS + "I.reduce.sum(x[m, I.domain(0, n + 1)], axis=1)",
    ),
    "a sum by a loop": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    total = I.cast(0.0, I.f32)\n"
        "    for n in range(N):\n        total = total + x[m, n]\n    out[m] = total",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(0, N)\nout[m] = I.reduce.sum(x[m, n], axis=1)",
    ),
    "a sum by a loop of conditional steps": (
        ROWS,
        "M, N = x.shape\nfor m in I.parallel(I.domain(0, M)):\n    total = I.cast(0.0, I.f32)\n"
        "    for n in range(N):\n        if n > 2:\n            total = total + x[m, n]\n    out[m] = total",
        "M, N = x.shape\nm, n = I.domain(0, M), I.domain(3, N)\nout[m] = I.reduce.sum(x[m, n], axis=1)",
    ),
}


@pytest.mark.parametrize("case", SAME.values(), ids=SAME)
def test_same(case: tuple[str, str, str]) -> None:
    found = verdict(*case)
    assert found.answer == "same", found


@pytest.mark.parametrize("case", DIFFERENT.values(), ids=DIFFERENT)
def test_different(case: tuple[str, str, str, str | None]) -> None:
    *programs, kind = case
    found = verdict(*programs)  # type: ignore[arg-type]
    assert found.answer == "different"
    assert (found.difference is not None and found.difference.first_line > 0 < found.difference.second_line) or kind
    assert kind is None or (found.difference is not None and found.difference.kind == kind)


@pytest.mark.parametrize("case", REASSOCIATED.values(), ids=REASSOCIATED)
def test_same_up_to_reassociation(case: tuple[str, str, str]) -> None:
    assert verdict(*case).answer == "same up to permitted reassociation"


ROWS = """
import triton
import triton.language as tl

def launch(x, y):
    rows, n = x.shape
    double[(rows,)](x, x.stride(0), y, y.stride(0), n, BLOCK=triton.next_power_of_2(n + 2))

@triton.jit
def double(x_ptr, x_stride, y_ptr, y_stride, n{kind}, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c {bound}
    tl.store(y_ptr + row * y_stride + c, tl.load(x_ptr + row * x_stride + c, mask=mask) * 2, mask=mask)
"""


@pytest.mark.parametrize("kind", ["", ": tl.constexpr"])
def test_as_many_elements_for_the_same_call(kind: str) -> None:
    """A size that is passed to both kernels means the same number of elements in both."""
    sides = {
        bound: read_sides(ROWS.format(kind=kind, bound=bound), "rows.py", "double", {})[0]
        for bound in ("< n", "<= n", "< n + 2", "< 1 + n")
    }
    assert all(compare(one, one).answer == "same" for one in sides.values())
    assert compare(sides["<= n"], sides["< 1 + n"]).answer == "same"
    for first, second in (("< n", "<= n"), ("<= n", "< n"), ("<= n", "< n + 2")):
        assert compare(sides[first], sides[second]).answer == "different"
