"""Extents that vary from point to point: kept on chip where a bound is known, streamed where none is."""

from __future__ import annotations

import pytest
from random_comparison import compare, program_of_text

from translators.pipeline import compile_text

HEADER = "import intent\nimport intent.language as I\n\n\n@intent.kernel\ndef "

GROUPS = """k(x: I.In[I.i64, ("M", "N")], top: I.Out[I.i64, ("M", "S")], mass: I.Out[I.i64, ("M", "S")]):
    M, N = x.shape
    S = top.shape[1]
    for m, s in I.parallel((I.domain(0, M), I.domain(0, S))):
        begin = I.minimum(3 * s, N)
        members = I.domain(begin, I.minimum(begin + 3, N))
        v = x[m, members]
        largest = I.reduce.max(v, axis=0)
        top[m, s] = largest
        mass[m, s] = I.reduce.sum((v - largest), axis=0)
"""

SEGMENTS = """k(x: I.In[I.i64, ("N",)], mass: I.Out[I.i64, ("N",)]):
    N = x.shape[0]
    for s in I.parallel(I.domain(0, N)):
        v = x[I.domain(s // 2, s)]
        mass[s] = I.reduce.sum((v - I.reduce.max(v, axis=0)), axis=0)
"""

CARRIED = """k(x: I.In[I.i64, ("N", "M")], out: I.Out[I.i64, ("N",)]):
    N, M = x.shape
    for s in I.parallel(I.domain(0, N)):
        members = I.domain(0, BOUND)
        state = I.full((members,), 1, dtype=I.i64)
        for m in I.domain(0, M):
            state = state + I.reduce.sum(state, axis=0) * x[s, m]
        out[s] = I.reduce.sum(state, axis=0)
"""

SCRATCH = """k(x: I.In[I.i64, ("N",)], out: I.InOut[I.i64, ("N", "N")]):
    N = x.shape[0]
    for s in I.parallel(I.domain(0, N)):
        for t in I.parallel(I.domain(0, s + 1)):
            cell = I.buffer((2,), dtype=I.i64, init=0)
            cell[1] = x[s]
            out[s, t] = cell[1]
"""


def _source(text: str) -> str:
    source = compile_text(HEADER + text, "extents.py").source
    assert source is not None
    return source


def test_a_bounded_slice_is_read_once() -> None:
    program = program_of_text(HEADER + GROUPS)
    assert compare(program).unsupported is None
    kernel = _source(GROUPS).partition("@triton.jit")[2].partition("class _View")[0]
    assert kernel.count("tl.load(") == 1
    assert "for " not in kernel


def test_an_unbounded_slice_is_streamed() -> None:
    assert compare(program_of_text(HEADER + SEGMENTS)).unsupported is None


def test_a_carry_of_bounded_extent() -> None:
    text = HEADER + CARRIED.replace("BOUND", "I.minimum(s, 5)")
    assert compare(program_of_text(text)).unsupported is None


@pytest.mark.parametrize("text", [CARRIED.replace("BOUND", "s"), SCRATCH], ids=["carry", "buffer"])
def test_what_only_a_program_knows_has_the_room_of_the_longest(text: str) -> None:
    assert compare(program_of_text(HEADER + text)).unsupported is None
