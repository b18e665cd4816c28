"""Carries that cannot stay on chip, because nothing bounds them or because another axis needs their coordinates one at
a time: they are kept in scratch memory, and agree with the reference.
"""

from __future__ import annotations

import numpy as np
import pytest
from program_runs import agree, compiled

pytestmark = pytest.mark.gpu

LENGTHS = 'x: I.In[I.f32, ("M", "N")], l: I.In[I.i32, ("G",)]'
HEAD = """
    M, N = x.shape
    for g in I.parallel(I.domain(0, l.shape[0])):
        n = I.domain(0, I.cast(l[g], I.index))
"""
# title -> parameters, body
PROGRAMS = {
    "of a length from memory": (f'{LENGTHS}, o: I.Out[I.f32, ("G",)]', HEAD + """
        s = x[0, n]
        for m in range(1, M):
            s = s * 0.5 + I.reduce.max(s, axis=0) * x[m, n]
        o[g] = I.reduce.sum(s, axis=0)
"""),
    "stored in each step": (f'{LENGTHS}, o: I.InOut[I.f32, ("G", "M", "N")]', HEAD + """
        s = x[0, n]
        for m in range(M):
            s = s + I.reduce.max(s, axis=0) * x[m, n]
            o[g, m, n] = s
"""),
    "two that move on together": (f'{LENGTHS}, o: I.Out[I.f32, ("G",)]', HEAD + """
        a = x[0, n]
        b = x[0, n] * 0.5
        for m in range(M):
            a, b = b + x[m, n], a - I.reduce.max(b, axis=0)
        o[g] = I.reduce.sum(a * 2.0 - b, axis=0)
"""),
    "reversed in each step": (f'{LENGTHS}, o: I.Out[I.f32, ("G",)]', HEAD + """
        s = x[0, n]
        for m in range(M):
            s = s[I.cast(l[g], I.index) - 1 - I.indices(n)] + x[m, n] * I.cast(I.indices(n), I.f32)
        o[g] = I.reduce.sum(s * I.cast(I.indices(n), I.f32), axis=0)
"""),
    "a prefix in each step": (f'{LENGTHS}, o: I.InOut[I.f32, ("G", "N")]', HEAD + """
        s = x[0, n]
        for m in range(M):
            s = I.cumsum(s, axis=0) * 0.5 + x[m, n]
        o[g, n] = s
"""),
    "left early": (f'{LENGTHS}, o: I.InOut[I.f32, ("G", "N")], steps: I.Out[I.f32, ("G",)]', HEAD + """
        s = x[0, n]
        count = I.cast(0.0, I.f32)
        for m in range(M):
            if I.reduce.sum(s, axis=0) > 3.0:
                break
            s = s + x[m, n] + 1.0
            count = count + 1.0
        o[g, n] = s
        steps[g] = count
"""),
    "while": (f'{LENGTHS}, o: I.InOut[I.f32, ("G", "N")]', HEAD + """
        s = x[0, n]
        m = I.cast(0, I.index)
        while m < M and I.reduce.max(s, axis=0) < 4.0:
            s = s + I.abs(x[m, n]) + 1.0
            m = m + 1
        o[g, n] = s
"""),
    "in a loop within a loop": (f'{LENGTHS}, o: I.Out[I.f32, ("G",)]', HEAD + """
        s = x[0, n]
        for m in range(M):
            for again in range(2):
                s = s * 0.5 + I.reduce.max(s, axis=0)
            s = s + x[m, n]
        o[g] = I.reduce.sum(s, axis=0)
"""),
    "of ragged rows": ('x: I.In[I.f32, ("T", "D")], l: I.In[I.i32, ("G1",)], o: I.Out[I.f32, ("T", "D")]', """
    T, D = x.shape
    G = l.shape[0] - 1
    rows = I.ragged(I.domain(0, G), I.domain(0, T), l)
    for g in I.parallel(I.domain(0, G)):
        t = rows[g]
        s = x[t, 0] * 2.0
        for j in range(D):
            s = s + I.reduce.max(s, axis=0) * x[t, j]
            o[t, j] = s
"""),
    "whose coordinates bound another": (
        'x: I.In[I.f32, ("M", "N")], l: I.In[I.i32, ("N",)], o: I.Out[I.f32, ("N",)]', """
    M, N = x.shape
    n = I.domain(0, N)
    s = I.zeros((N,), I.f32)
    for m in range(M):
        s = s + I.reduce.max(s, axis=0) * x[m, n] + 1.0
    for j in I.parallel(n):
        o[j] = s[j] + I.reduce.sum(x[0, I.domain(0, I.cast(l[j], I.index))], axis=0)
"""),
}  # fmt: skip


def program(title: str) -> str:
    parameters, body = PROGRAMS[title]
    return f"@intent.kernel\ndef k({parameters}):\n    {body.strip()}\n"


def arguments(title: str, columns: int) -> dict[str, object]:
    generator = np.random.default_rng(columns)
    if "ragged" in title:
        x = generator.integers(-2, 3, (columns, 3)).astype(np.float32)
        offsets = np.array([0, columns // 3, columns // 3, columns], np.int32)
        return {"x": x, "l": offsets, "o": np.zeros_like(x)}
    x = generator.integers(-2, 3, (3, columns)).astype(np.float32)
    if "bound" in title:
        return {"x": x, "l": generator.integers(0, columns + 1, columns).astype(np.int32), "o": x[0].copy()}
    lengths = np.array([columns, 1, max(columns // 2, 1)], np.int32)  # a maximum of nothing has no place in a sum
    lengths = lengths if columns else np.zeros(0, np.int32)
    rank = PROGRAMS[title][0].split(" o: ")[1].split(")]")[0].count('"') // 2
    shape = {1: lengths.shape, 2: (len(lengths), columns), 3: (len(lengths), 3, columns)}[rank]
    found: dict[str, object] = {"x": x, "l": lengths, "o": np.full(shape, 7, np.float32)}
    return found | ({"steps": np.zeros(lengths.shape, np.float32)} if "early" in title else {})


@pytest.mark.parametrize("columns", [21, 1, 0])
@pytest.mark.parametrize("title", PROGRAMS)
def test_agrees_with_the_reference(title: str, columns: int) -> None:
    agree(program(title), arguments(title, columns))


def test_room_for_the_longest_row() -> None:
    (scratch,) = compiled(program("of a length from memory")).codes[-1].scratch
    assert scratch.elements in ("G * N", "N * G")


def test_a_snapshot_of_memory_is_read_where_a_later_loop_needs_it() -> None:
    text = """
    @intent.kernel
    def k(x: I.In[I.i32, ("M", "N")], o: I.Out[I.i32, ("M", "N")]):
        M, N = x.shape
        for m in I.parallel(I.domain(0, M)):
            b = I.buffer((N,), I.i32)
            b[:] = x[m, :]
            b[:] = b[:] * 2 + 1
            s = b[:]
            for j in range(N):
                o[m, j] = s[j]
    """
    x = np.arange(33, dtype=np.int32).reshape(3, 11)
    agree(text, {"x": x, "o": np.zeros_like(x)})
