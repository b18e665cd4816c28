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
