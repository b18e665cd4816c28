"""Triton's front end takes every form of the language and every program of NPBench: see `front_end`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from front_end import Program, found_elsewhere
from test_practice_forms import CONSTEXPRS, HEADER, PROGRAMS

NPBENCH = sorted((Path(__file__).resolve().parent.parent / "samples" / "npbench").glob("*.py"))
SHARES = 8  # of the programs, one process each

# Statements that share nothing are branches over the programs: a name in two of them has one type.
BRANCHES = {
    "count_from_data": """
@intent.kernel
def k(x: I.In[I.f32, ("N",)], begin: I.index, a: I.Out[I.f32, ("N",)], b: I.Out[I.f32, ("M", "N")]):
    rest = I.domain(0, x.shape[0])[begin:]
    columns = I.domain(0, x.shape[0])
    a[rest] = x[rest] + 1.0
    b[:, columns] = x[columns]
""",
    "coordinate_and_loop": """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], a: I.Out[I.f32, ("N",)], b: I.Out[I.f32, ("M",)]):
    rows, columns = I.domain(0, x.shape[0]), I.domain(0, x.shape[1])
    total = I.zeros((columns,), I.f32)
    for m in rows:
        total = total * 0.5 + x[m, columns]
    a[columns] = total
    for m in I.parallel(rows):
        b[m] = I.reduce.sum(x[m, columns], axis=0)
""",
    "results_that_nothing_reads": """
@intent.kernel
def k(x: I.In[I.f32, ("M", "N")], a: I.Out[I.index, ("M",)], b: I.Out[I.index, ("N",)]):
    _, at = I.arg_reduce.max(x[:, :], axis=1)
    a[:] = at
    _, at = I.arg_reduce.max(x[:, :], axis=0)
    b[:] = at
""",
    "tile_and_point": """
@intent.kernel
def k(q: I.Out[I.f32, ("M", "N")], r: I.Out[I.f32, ("N", "N")]):
    q[:, :] = 0.0
    r[:, :] = 0.0
""",
}


# A fold in one program with its rows, after a loop over the same columns: the tile of both is no larger than tiles are.
FOLD_BESIDE_LONG_ROWS = """
@intent.fn
def summarize(v, at, limit):
    v = I.mask(v, at <= limit, -1.0e30)
    top = I.reduce.max(v, axis=1)
    weight = I.mask(I.exp(v - top[:, None]), at >= limit, 0.0)
    return I.record(top=top, mass=I.reduce.sum(weight, axis=1))


@intent.fn
def merge(a, b):
    top = I.maximum(a.top, b.top)
    left, right = I.exp(a.top - top), I.exp(b.top - top)
    return I.record(top=top, mass=a.mass * left + b.mass * right)


@intent.kernel
def k(
    x4: I.In[I.i32, ("M",)],
    z4: I.InOut[I.f32, ("M", "N")],
    y11: I.Out[I.f32, ("M",)],
    x16: I.In[I.f32, (8, "M")],
    low17: I.In[I.index, (8, "M")],
    x18: I.In[I.f32, ("N", 16)],
    y20: I.Out[I.i32, ("M", "N")],
):
    M = x4.shape[0]
    m = I.domain(0, M)
    N = z4.shape[1]
    n = I.domain(0, N)
    for p1, p2 in I.parallel((m, n)):
        if (1 <= x4[p1] < 9):
            z4[p1, p2] += 2.0
    v4 = z4[m, :] + 0.0
    w7 = I.region_fold(source=(v4, I.cast(I.indices(n), I.i32)[None, :]), axis=1, summarize=summarize, combine=merge,
        identity=I.record(top=I.full((M,), -1.0e30, dtype=I.f32), mass=I.full((M,), 0.0, dtype=I.f32)),
        operands=(x4[m][:, None],))
    y11[m] = w7.mass
    picked = I.sparse.one_of_two(compression_axis=0, logical_extent=16)
    v11 = I.sparse_contract(x16[:, m], low17[:, m], x18[n, :], format=picked, reduce=((0, 1),), acc_dtype=I.f32)
    y20[m, n] = I.cast(v11, I.i32)
"""

# tl.dot takes no fewer than 32 elements of eight bits along the contracted axis on an NVIDIA GPU.
SHORT_PRODUCTS = """
@intent.kernel
def short_{k}_{dtype}(x: I.In[I.{dtype}, ("M", {k})], y: I.In[I.{dtype}, ({k}, "N")], o: I.Out[I.{acc}, ("M", "N")]):
    o[:, :] = I.contract(x[:, :], y[:, :], reduce=((1, 0),), acc_dtype=I.{acc})


@intent.kernel
def square_{k}_{dtype}(x: I.In[I.{dtype}, (8, {k})], y: I.In[I.{dtype}, ({k}, 8)], o: I.Out[I.{acc}, (8, 8)]):
    o[:, :] = I.contract(x[:, :], y[:, :], reduce=((1, 0),), acc_dtype=I.{acc})


@intent.kernel
def pairs_{k}_{dtype}(
    x: I.In[I.{dtype}, ("M", {k})], at: I.In[I.index, ("M", {k})], y: I.In[I.{dtype}, ({wide}, "N")],
    o: I.Out[I.{acc}, ("M", "N")],
):
    picked = I.sparse.one_of_two(compression_axis=1, logical_extent={wide})
    o[:, :] = I.sparse_contract(x[:, :], at[:, :], y[:, :], format=picked, reduce=((1, 0),), acc_dtype=I.{acc})
"""
TYPES_OF_PRODUCTS = {
    "i8": "i32", "u8": "i32", "f8e4m3fn": "f32", "f8e5m2": "f32", "f16": "f32", "bf16": "f32", "f32": "f32",
    "f64": "f64", "i32": "i32",
}  # fmt: skip


def _share(programs: Sequence[Program], share: int) -> list[Program]:
    return list(programs[share::SHARES])


def _form(title: str) -> Program:
    text = PROGRAMS[title]
    return title, HEADER + text, {name: value for name, value in CONSTEXPRS.items() if f"{name}: I.Constexpr" in text}


@pytest.mark.parametrize("share", range(SHARES))
def test_forms(share: int) -> None:
    assert not found_elsewhere(_share([_form(title) for title in PROGRAMS], share))


@pytest.mark.parametrize("share", range(SHARES))
def test_npbench(share: int) -> None:
    assert not found_elsewhere(_share([(path.stem, path.read_text(encoding="utf-8"), {}) for path in NPBENCH], share))


def test_names_have_one_type_in_all_branches() -> None:
    assert not found_elsewhere([(name, HEADER + text, {}) for name, text in BRANCHES.items()])


def test_tiles_of_folds_fit() -> None:
    assert not found_elsewhere([("fold", HEADER + FOLD_BESIDE_LONG_ROWS, {})])


@pytest.mark.parametrize("dtype", TYPES_OF_PRODUCTS)
def test_products_along_short_axes(dtype: str) -> None:
    texts = [
        SHORT_PRODUCTS.format(k=k, wide=2 * k, dtype=dtype, acc=TYPES_OF_PRODUCTS[dtype]) for k in (1, 3, 8, 16, 20)
    ]
    assert not found_elsewhere([(dtype, HEADER + "".join(texts), {})])
