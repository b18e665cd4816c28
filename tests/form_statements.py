"""What the programs of `tests/forms/` compute, in NumPy: one statement a program, by its title.

A statement is handed every argument by name and writes the outputs, whose elements it leaves alone are unspecified.
`sizes` are those of the symbols (the others have a size of their own), `given` the arguments that cannot be random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
from conformance import contractions
from conformance.tensors import philox

Arguments = SimpleNamespace
Statement = Callable[[Arguments], None]


@dataclass(frozen=True, slots=True)
class Form:
    statement: Statement
    sizes: Mapping[str, int] = field(default_factory=dict)
    given: Mapping[str, object] = field(default_factory=dict)


NOT_LOWERED: Mapping[str, str] = {}
"""Programs that only the reference runs, with the code that says so."""

FORMS: dict[str, Form] = {}


def form(title: str, sizes: Mapping[str, int] | None = None, **given: object) -> Callable[[Statement], Statement]:
    def register(statement: Statement) -> Statement:
        FORMS[title] = Form(statement, sizes or {}, given)
        return statement

    return register


def wide(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64)


# --------------------------------------------------------------------------------------------------------- contractions
@form("contractions: dot in every form")
def _(s: Arguments) -> None:
    s.o[()] = s.p[0] = wide(s.a) @ wide(s.b)
    s.q[:] = wide(s.m) @ wide(s.b)


@form("contractions: full contraction")
def _(s: Arguments) -> None:
    s.o[()] = np.sum(wide(s.a) * wide(s.b))


@form("contractions: two reduced pairs, symbolic")
def _(s: Arguments) -> None:
    s.o[:] = np.einsum("akl,klb->ab", wide(s.a), wide(s.b))


@form("contractions: broadcast batch axes")
def _(s: Arguments) -> None:
    s.o[:] = wide(s.a) @ wide(s.b)


@form("contractions: batched contract")
def _(s: Arguments) -> None:
    s.o[:] = np.einsum("bmk,bnk->bmn", wide(s.a), wide(s.b))


@form("contractions: vectors and matrices")
def _(s: Arguments) -> None:
    s.o[:] = wide(s.a) @ wide(s.x)
    s.p[:] = wide(s.y) @ wide(s.a)
    s.q[:] = np.outer(wide(s.y), wide(s.x))


@form("contractions: two stores of different free axes, one with a contraction")
def _(s: Arguments) -> None:
    s.sq[:] = np.sum(wide(s.x) ** 2, axis=1)
    s.mx[:] = wide(s.x) @ wide(s.w).T


@form("contractions: chained matrix products on ragged rows", {"E": 2, "G": 3, "R": 9}, off=[0, 4, 9])
def _(s: Arguments) -> None:
    for e in range(2):
        rows = slice(s.off[e], s.off[e + 1])
        inner = (wide(s.x[rows]) @ wide(s.w1[e])).astype(np.float16)
        s.y[rows] = wide(inner) @ wide(s.w2[e])


@form("contractions: tensor carry whose shape is a subregion", {"M": 150}, first=15)
def _(s: Arguments) -> None:
    s.o[15:143] = np.sum(wide(s.a[15:143]), axis=1)


@form("contractions: scaled contraction", a=range(0x30, 0x40), sa=[126, 127, 128], b=range(0x30, 0x40), sb=[127, 128])
def _(s: Arguments) -> None:
    left = contractions.decoded_e4m3(s.a) * contractions.decoded_e8m0(s.sa)[:, :, None]
    right = contractions.decoded_e4m3(s.b) * contractions.decoded_e8m0(s.sb)[:, None, :]
    s.o[:] = np.einsum("mgc,gcn->mn", left, right)


@form("contractions: sparse contraction", p=[0, 1], q=[2, 3])
def _(s: Arguments) -> None:
    dense = np.zeros((len(s.v), 64))
    for kept, places in ((0, s.p), (1, s.q)):
        np.put_along_axis(dense, places + 4 * np.arange(16), wide(s.v)[:, kept::2], axis=1)
    s.o[:] = dense @ wide(s.b)


@form("contractions: quantized rows", {"M": 2, "N": 3, "G": 1}, w=[[[0x10, 0x24, 0x05, 0x20] + [37] * 140]])
def _(s: Arguments) -> None:
    record = contractions.q8_k(s.x)[0]
    scale = record[:4].view(np.float32)[0]
    s.o[:] = [contractions.q4_k(row) @ (record[4:260].view(np.int8) * np.float64(scale)) for row in s.w[:, 0]]


# ------------------------------------------------------------------------------------------------------------- indexing
@form("indexing: domain, full slice, ellipsis, missing trailing axes")
def _(s: Arguments) -> None:
    s.o[:] = s.x + s.x + s.x


@form("indexing: None in reads of views and values")
def _(s: Arguments) -> None:
    v = s.s[0]
    s.o[:] = s.x[0] * v[:, None] + v[:, None]
    s.ok[:] = ((v > 0) & (v < 1))[:, None]


@form("indexing: index tensors broadcast together, scalars between", {"S": 5, "D": 4}, r=[4, 0, 2], c=[1, 3])
def _(s: Arguments) -> None:
    s.o[:] = s.x[:, s.r[:, None], 0, s.c[None, :]]


@form("indexing: shifted, grouped and modulo reads", {"T": 12, "G": 5, "H": 3, "E": 7})
def _(s: Arguments) -> None:
    s.o[:, :8] = s.x[:, 4:] + np.roll(s.x, -5, axis=1)[:, :8]
    m = np.arange(7)
    s.p[:] = s.q[:, 2 + m // 3, m % 3]


@form("indexing: static negative index and static slice")
def _(s: Arguments) -> None:
    s.o[:] = s.x[:, 16:48]


@form("indexing: runtime slices and slices of values", {"N": 11}, b=3, e=8)
def _(s: Arguments) -> None:
    s.o[:8] = s.x[:8]
    s.p[:] = s.y[:, 0] + s.y[:, 1]


@form("indexing: scalar reads of tensor values")
def _(s: Arguments) -> None:
    prefix = np.cumsum(wide(s.x))
    s.o[:] = prefix - prefix[0] + prefix[7]
    s.total[()] = prefix[7]


@form("indexing: stores through index tensors", {"N": 5}, cols=[3, 0, 4, 1, 2])
def _(s: Arguments) -> None:
    s.o[:, s.cols] = s.x


@form("indexing: computed scalar store in a loop", {"N": 5}, x=[1, 1, 1, 1, 1])
def _(s: Arguments) -> None:
    s.o[:] = np.arange(5)


@form("indexing: literals typed by the destination")
def _(s: Arguments) -> None:
    s.loss[:] = 0
    s.keep[:] = False
    s.o[:] = 0


@form("indexing: literals beside tensors")
def _(s: Arguments) -> None:
    s.o[:] = (s.x * np.float16(2)).astype(np.float32) + s.y * 2 * np.where(s.y > 0, 1, -1)


@form("indexing: shape arguments: domains, extents, ints, symbols", b=2)
def _(s: Arguments) -> None:
    s.o[:] = s.x


@form("indexing: logic on tensors, with not and ~", a=[-1, 0, 3, 9], n=4)
def _(s: Arguments) -> None:
    inside = (s.a >= 0) & (s.a < 4)
    flag = (s.a > 0) & (s.a < 4) | ~inside
    s.o[:] = ~flag | ~inside


@form("indexing: conditional expressions on tensors and scalars", c=False, theta=0.5)
def _(s: Arguments) -> None:
    s.o[:] = -s.x * np.where(s.x > 0, 1, -1) * 0.5 ** np.arange(len(s.x))


@form("indexing: floor division and remainder of negative indices", {"N": 11})
def _(s: Arguments) -> None:
    i = np.arange(11)
    s.o[:] = s.x[(i - 3) % 11] + s.x[np.maximum((i - 7) // 2, 0)]


@form("indexing: one subregion on both axes", {"T": 7}, b=4)
def _(s: Arguments) -> None:
    s.o[:] = np.outer(s.x, s.x)
    s.o[4:, 4:] = 0


@form("indexing: pairwise ranks")
def _(s: Arguments) -> None:
    s.o[:] = np.sum(s.x[:, None] < s.x[None, :], axis=1)


@form("indexing: gather from a value by a computed index")
def _(s: Arguments) -> None:
    s.o[:] = s.x[:, np.arange(64) ^ 1]


@form("indexing: reversed read of a view that was written")
def _(s: Arguments) -> None:
    s.t[:] = s.x * 2
    s.o[:] = s.t[::-1] + 1


@form("indexing: indices of several domains")
def _(s: Arguments) -> None:
    s.o[:] = np.triu(s.x, 1)


@form("indexing: pairs swapped through reshape and join")
def _(s: Arguments) -> None:
    s.o[:, ::2], s.o[:, 1::2] = -s.x[:, 1::2], s.x[:, ::2]


@form("indexing: pooling through reshape", {"H": 6, "W": 10, "P": 3, "Q": 5})
def _(s: Arguments) -> None:
    s.o[:] = wide(s.x).reshape(3, 2, 5, 2).mean(axis=(1, 3))


# ---------------------------------------------------------------------------------------------------------------- loops
@form("loops: domains with index arithmetic and runtime bounds", {"K": 13}, lo=2, hi=7)
def _(s: Arguments) -> None:
    s.o[:7] = s.x[:7]


@form("loops: range over loaded i32 bounds", {"G": 4, "R": 3, "N": 9}, off=[0, 2, 2, 9])
def _(s: Arguments) -> None:
    s.o[:] = [np.sum(wide(s.x[a:b])) for a, b in ((0, 2), (2, 2), (2, 9))]


@form("loops: steps")
def _(s: Arguments) -> None:
    s.o[::2] = s.x[::2] + np.sum(wide(s.x[::2]))


@form("loops: parallel product and nested parallel")
def _(s: Arguments) -> None:
    s.o[:] = s.x + np.sum(wide(s.x), axis=1, keepdims=True)


@form("loops: subregions and their iteration", {"N": 11}, a=3, b=8)
def _(s: Arguments) -> None:
    s.o[:] = s.x
    s.o[3:8] *= 2
    s.o[0] = 8


@form("loops: iterating a ragged row", {"E": 3, "G": 4, "R": 9}, off=[0, 2, 2, 9])
def _(s: Arguments) -> None:
    s.o[:] = [np.sum(wide(s.x[a:b])) for a, b in ((0, 2), (2, 2), (2, 9))]


@form("loops: discarded loop variable, carries of several kinds, one runtime if", {"N": 9})
def _(s: Arguments) -> None:
    s.o[:] = np.min(s.x[:8])
    s.where[:] = np.argmin(s.x[:8])


@form("loops: while with an index counter against a loop variable", {"N": 21})
def _(s: Arguments) -> None:
    i = np.arange(21)
    s.o[:] = np.where(i <= 2, 2, 2 ** np.ceil(np.log2(np.maximum(i, 2))).astype(int)) ^ i


@form("loops: while True, break and continue", {"N": 9})
def _(s: Arguments) -> None:
    halved = s.x * np.float32(0.5)
    while (halved >= 1).any():
        halved = np.where(halved >= 1, halved * np.float32(0.5), halved)
    s.o[:] = halved + np.sum(np.maximum(wide(s.x[:8]), 0))


@form("loops: continue inside parallel, early return", stop=False)
def _(s: Arguments) -> None:
    s.o[:] = np.where(s.x < 0, s.o, s.x)


@form("loops: names first defined in both branches", c=False)
def _(s: Arguments) -> None:
    s.o[:] = -s.x * 3


@form("loops: records and tensors rebound in a runtime if", c=True)
def _(s: Arguments) -> None:
    s.o[:] = s.x * 4


@form("loops: assignment forms and chained comparison", lo=0.5, hi=1.5)
def _(s: Arguments) -> None:
    a = s.x + 1
    s.o[:] = np.where((a >= 0.5) & (a < 1.5), s.o + s.x, np.where(a > 1.5, 1.5, 0.5))


@form("loops: enumerate of a subregion", {"N": 9}, b=4)
def _(s: Arguments) -> None:
    s.o[:5] = s.x[4:]


# --------------------------------------------------------------------------------------------------------------- memory
@form("memory: promises about bounds", {"M": 5}, ix=[4, 0, 2])
def _(s: Arguments) -> None:
    s.o[:] = s.x[0, s.ix]


@form("memory: gather with valid, fill and a slice", {"N": 4, "K": 3}, ix=[3, -1, 0])
def _(s: Arguments) -> None:
    s.o[:] = np.where((s.ix >= 0)[:, None], s.x[:, s.ix], 0)


@form("memory: gather by an index alone, fill tensor", {"N": 5, "K": 3}, ix=[0, 4, 2])
def _(s: Arguments) -> None:
    s.o[:] = [s.tab[1], s.tab[4], s.tab[3]]


@form("memory: unique and combining scatters", {"T": 4}, tok=[2, 0, 3, 1])
def _(s: Arguments) -> None:
    s.y[s.tok, 1] = s.t
    s.z[s.tok] += s.t


@form("memory: scatter with a helper, rank one", {"N": 4, "M": 3}, g=[1, 2, 4, 8], ix=[0, 2, 0, 1], o=[1, 0, 16])
def _(s: Arguments) -> None:
    np.bitwise_or.at(s.o, s.ix, s.g)
    np.maximum.at(s.o, s.ix, s.g)


@form("memory: atomics", {"N": 3, "E": 4}, ids=[0, 2, 3], s=[0, 5, 0], c=[10, 20, 30, 40])
def _(s: Arguments) -> None:
    s.o[:] = [10, 5, 40]
    s.s[:] = [1, 5, 1]
    s.tile += s.v
    s.c[:] = [3, 20, 31, 41]


@form("memory: buffers")
def _(s: Arguments) -> None:
    s.o[:] = s.x + 3


@form("memory: buffer from a tensor")
def _(s: Arguments) -> None:
    s.o[:] = s.x + np.eye(len(s.x))


@form("memory: stores and loads of writable views")
def _(s: Arguments) -> None:
    s.t[:] = s.o[:] = s.x


@form("memory: out views as scratch")
def _(s: Arguments) -> None:
    s.t[:] = s.x * 2
    s.o[:] = s.t + 1


@form("memory: rotary pairs in place")
def _(s: Arguments) -> None:
    a, b = s.x[:, :32].copy(), s.x[:, 32:].copy()
    s.x[:, :32], s.x[:, 32:] = a * s.c - b, b * s.c + a


@form("memory: histograms", {"N": 6, "B": 5}, x=[4, -1, 0, 4, 3, 0])
def _(s: Arguments) -> None:
    s.hist[:] = [2, 0, 0, 1, 2]
    s.h[:] = 0
    s.h[:5] = s.hist


@form("memory: random numbers by index and by loop variable", {"M": 3, "N": 7}, seed=11)
def _(s: Arguments) -> None:
    s.o[:] = (philox(11, np.arange(21)) >> 8).reshape(3, 7) * 2.0**-24
    s.p[:] = (philox(11, np.arange(3)) >> 8) * 2.0**-24


@form("memory: ragged rows: regions, members, positions", {"E": 2, "G": 3, "R": 5}, off=[0, 2, 5], map=[4, 0, 3, 1, 2])
def _(s: Arguments) -> None:
    scale = np.repeat(s.s, [2, 3])
    s.y[:] = s.x * scale[:, None] + s.x[s.map] * np.arange(5)[:, None]


@form("memory: subregions of a loaded length", {"R": 3, "N": 7}, l=[0, 7, 4])
def _(s: Arguments) -> None:
    for row, length in enumerate(s.l):
        s.o[row, :length] = s.x[row, :length] * 2


# ------------------------------------------------------------------------------------------------------------ signature
@form("signature: unpacking a shape, discarding one extent")
def _(s: Arguments) -> None:
    s.o[:] = s.t[:, 0]


@form("signature: extents by position, against a cast index", {"M": 5}, j=4)
def _(s: Arguments) -> None:
    s.o[:] = True


@form("signature: module constants and arithmetic in annotations")
def _(s: Arguments) -> None:
    s.o[:] = s.w[:, 8, 1]


@form("signature: constraints kept in a module constant")
def _(s: Arguments) -> None:
    s.o[:] = s.x


@form("signature: constexprs of every kind")
def _(s: Arguments) -> None:
    s.o[:] = (s.x * np.float32(0.5) + 3) * 2


@form("signature: constexpr default")
def _(s: Arguments) -> None:
    s.o[:] = wide(s.x) ** 3


@form("signature: runtime scalars of several dtypes", {"N": 7}, mix=0.25, seed=3, flag=True, first=2)
def _(s: Arguments) -> None:
    s.o[2:] = s.x[2:] * np.float32(0.25) + (philox(3, np.arange(2, 7)) >> 8) * 2.0**-24


@form("signature: module numbers as literals", {"N": 9})
def _(s: Arguments) -> None:
    i = np.arange(9) % 4
    s.o[:] = (wide(s.x[i]) + s.x[i + 1] + s.x[i + 2]) / 448


@form("signature: docstring and compile-time assertion")
def _(s: Arguments) -> None:
    s.o[:] = s.x


# ----------------------------------------------------------------------------------------------------------- structured
@form("structured: record reduction with a record identity")
def _(s: Arguments) -> None:
    s.n[()] = np.sum(s.x > 0)
    s.m[()] = np.max(s.x, initial=0)


@form("structured: tuple reduction")
def _(s: Arguments) -> None:
    s.o[:] = np.sum(wide(s.x), axis=1)
    s.p[:] = np.prod(wide(s.x) + 1, axis=1)


@form("structured: reduction with a whole slice as identity, and captured operands", s=2.0)
def _(s: Arguments) -> None:
    s.o[:] = (np.prod(1 + 2 * wide(s.x), axis=1) - 1) / 2


@form("structured: scans")
def _(s: Arguments) -> None:
    prefix = np.cumsum(wide(s.x), axis=1)
    after = np.cumsum(prefix[:, ::-1], axis=1)[:, ::-1] - prefix
    s.o[:] = np.maximum.accumulate(after, axis=1)


@form("structured: record scan with components of several ranks", d=0.5)
def _(s: Arguments) -> None:
    state = np.zeros(s.o.shape[1:])
    for t in range(len(s.kk)):
        state = state * 0.5 + np.outer(s.kk[t], s.vv[t])
        s.o[t] = state


@form("structured: arg reduction")
def _(s: Arguments) -> None:
    s.o[:] = np.argmax(s.x, axis=1)


@form("structured: reductions of booleans and several axes")
def _(s: Arguments) -> None:
    s.o[:] = np.sum(wide(s.x), axis=(0, 2))
    s.any[()] = np.any(wide(s.x) > 0)


@form("structured: region fold with compile-time operands", scale=0.5)
def _(s: Arguments) -> None:
    scores = np.einsum("qd,bkd->bqk", wide(s.q), wide(s.kk)) * 0.5 + s.bias[:, None, :]
    keys, queries = np.arange(scores.shape[2]), np.arange(scores.shape[1])
    scores = np.where(queries[:, None] >= keys, scores, 0)
    s.o[:] = np.max(scores, axis=2) + np.sum(scores, axis=2)


@form("structured: region fold with a tensor summary")
def _(s: Arguments) -> None:
    s.o[:] = np.sum(wide(s.x), axis=0)


@form("structured: region scan")
def _(s: Arguments) -> None:
    s.o[:] = np.cumsum(wide(s.x), axis=0) + s.x


@form("structured: helpers: nested, defaults, tuples, effects, domains inside, early return")
def _(s: Arguments) -> None:
    s.o[:] = s.x * 2 + 1 + s.x * 3 + 2
    s.p[:] = np.minimum(s.x, 1)


# --------------------------------------------------------------------------------------------------------- combinations
@form("combinations: a reduction of a scan of a row")
def _(s: Arguments) -> None:
    prefix = np.cumsum(wide(s.x), axis=1)
    s.o[:] = np.max(prefix, axis=1)
    s.p[:] = np.argmax(prefix, axis=1)


@form("combinations: nucleus: a scan, a threshold, a choice", x=[0.0, 0.125, 0.25, 0.5], u=[0.3, 0.6], top=0.2)
def _(s: Arguments) -> None:
    p = np.where(s.x >= np.float32(0.2), s.x, 0)
    s.o[:] = np.sum(np.cumsum(p, axis=1) <= (s.u * np.sum(p, axis=1))[:, None], axis=1)


@form("combinations: histograms inside a parallel loop", x=range(-2, 10))
def _(s: Arguments) -> None:
    s.h[:] = [[np.sum(row == each) for each in range(8)] for row in s.x]


@form("combinations: combining scatters of rows, of vectors, into a literal group", {"M": 3}, ix=[0, 1, 2])
def _(s: Arguments) -> None:
    np.add.at(s.p, s.ix, s.g[:, 0])
    np.add.at(s.o, s.ix, s.g)
    np.add.at(s.q[:, 1], s.ix, s.g * 2)


@form(
    "combinations: ragged product and gradient of its weights with full slices", {"E": 2, "G": 3, "R": 9}, off=[0, 4, 9]
)
def _(s: Arguments) -> None:
    for e in range(2):
        rows = slice(s.off[e], s.off[e + 1])
        s.y[rows] = wide(s.x[rows]) @ wide(s.w[e])
        s.dw[e] = wide(s.x[rows]).T @ wide(s.g[rows])


@form("combinations: several axes of a gather reduced", {"H": 6, "W": 9, "P": 4, "Q": 7})
def _(s: Arguments) -> None:
    s.o[:] = sum(wide(s.x[i : i + 4, j : j + 7]) for i in range(3) for j in range(3))


@form("combinations: the last element of a chunk")
def _(s: Arguments) -> None:
    s.o[:] = s.cd[:, :, :, 3]


@form(
    "combinations: factorisation in a buffer with slices",
    {"N": 3},
    x=[[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 1.0, 6.0]],
)
def _(s: Arguments) -> None:
    a = s.x.copy()
    for j in range(3):
        a[j + 1 :, j] /= a[j, j]
        a[j + 1 :, j + 1 :] -= np.outer(a[j + 1 :, j], a[j, j + 1 :])
    s.o[:] = a


@form("combinations: probabilities and loss of a long row", {"N": 70}, label=[0, 69, 7])
def _(s: Arguments) -> None:
    e = np.exp(wide(s.x))
    s.y[:] = e / np.sum(e, axis=1, keepdims=True)
    s.loss[:] = np.log(np.sum(e, axis=1)) - s.x[np.arange(len(s.x)), s.label]


# ------------------------------------------------------------------------------------------------ rules of the language
@form("indexing: a view written from its own elements in reverse", {"N": 37})
def _(s: Arguments) -> None:
    s.x[:] = s.x[::-1].copy()


@form("indexing: coordinates of a subregion, positions in what is read from it", {"N": 37})
def _(s: Arguments) -> None:
    s.y[:] = sum(range(12, 37)) - 37
    s.first[()] = s.x[12]


@form("indexing: a transpose through two tensor indices", {"M": 5, "N": 37})
def _(s: Arguments) -> None:
    s.y[:] = s.x.T


@form("loops: conditions that read only what Python would reach", {"N": 37})
def _(s: Arguments) -> None:
    s.y[:] = [2 if k > 0 and s.x[k - 1] > 0 else 1 for k in range(37)]


@form("loops: every third element, the rest untouched", {"N": 37})
def _(s: Arguments) -> None:
    s.y[1::3] = s.x[1::3] * 2


@form("loops: two carries that change together, in a stepped loop", {"N": 37})
def _(s: Arguments) -> None:
    positive = [k for k in range(0, 37, 3) if s.x[k] > 0]
    s.y[:] = len(positive) * 100 + max(positive, default=0)


@form("structured: largest values behind each element, without it", {"M": 5, "N": 37})
def _(s: Arguments) -> None:
    s.y[:, -1] = -np.inf
    s.y[:, :-1] = np.maximum.accumulate(s.x[:, ::-1], axis=1)[:, -2::-1]


@form("indexing: subregions formed twice from one bound are one extent", {"N": 37}, n=29)
def _(s: Arguments) -> None:
    s.y[0] = (s.x[0] + s.y[0]) * 2
    s.y[1:29] = s.x[1:29] + 1
