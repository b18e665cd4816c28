"""Comparison of programs that compute with integers: pairs that a rule makes equal, and pairs that look alike."""

from __future__ import annotations

import pytest
from test_comparison import verdict

COUNTED = 'x: I.In[I.i32, ("N",)], out: I.Out[I.i32, (8,)]'
SEGMENTS = 'x: I.In[I.f32, ("N",)], at: I.In[I.i32, ("M",)], out: I.Out[I.f32, ("M",)]'
WHOLE = 'x: I.In[I.i32, ("N",)], y: I.In[I.i32, ("N",)], out: I.Out[I.i32, ("N",)]'
COUNT = """n, b = I.domain(0, x.shape[0]), I.domain(0, 8)
v = I.cast(x[n], I.index)[:, None]
out[b] = I.reduce.sum(I.cast({condition}, I.i32), axis=0)"""
SUM = """for m in I.parallel(I.domain(0, out.shape[0])):
    e = I.cast(at[m], I.index)
    out[m] = I.reduce.sum(x[I.domain({begin}, x.shape[0])], axis=0)"""
EACH = "i = I.domain(0, x.shape[0])\nout[i] = {value}"
NUMBER = "I.cast(I.indices(i), I.i32)"
NARROW = "I.cast(I.cast(I.indices(i), I.i8) * 8, I.i32)"
IS_BIN = "v == I.indices(b)[None, :]"


@pytest.mark.parametrize(
    ("parameters", "first", "second"),
    [
        (COUNTED, COUNT.format(condition=f"({IS_BIN}) & (0 <= v) & (v < 8)"), COUNT.format(condition=IS_BIN)),
        (COUNTED, COUNT.format(condition=f"({IS_BIN}) & (v < 9)"), COUNT.format(condition=IS_BIN)),
        (SEGMENTS, SUM.format(begin="e + I.maximum(0, -e)"), SUM.format(begin="I.maximum(e, 0)")),
        (WHOLE, EACH.format(value="(x[i] - 0) * 1 + y[i]"), EACH.format(value="x[i] + y[i]")),
        (WHOLE, EACH.format(value=f"{NUMBER} * 8 - 3"), EACH.format(value="I.cast(I.indices(i) * 8 - 3, I.i32)")),
        (
            WHOLE,
            EACH.format(value=f"{NUMBER} * {NUMBER}"),
            EACH.format(value="I.cast(I.indices(i) * I.indices(i), I.i32)"),
        ),
        (WHOLE, EACH.format(value=f"-{NUMBER}"), EACH.format(value="I.cast(-I.indices(i), I.i32)")),
    ],
)
def test_same(parameters: str, first: str, second: str) -> None:
    found = verdict(parameters, first, second)
    assert found.answer == "same", found


@pytest.mark.parametrize(
    ("parameters", "first", "second"),
    [
        (COUNTED, COUNT.format(condition=f"({IS_BIN}) & (v < 7)"), COUNT.format(condition=IS_BIN)),
        (COUNTED, COUNT.format(condition=f"({IS_BIN}) & (0 < v)"), COUNT.format(condition=IS_BIN)),
        (COUNTED, COUNT.format(condition=f"({IS_BIN}) | (v < 8)"), COUNT.format(condition=IS_BIN)),
        (COUNTED, COUNT.format(condition="(v < 8) & (0 <= v)"), COUNT.format(condition=IS_BIN)),
        (SEGMENTS, SUM.format(begin="I.maximum(0, -e)"), SUM.format(begin="I.maximum(e, 0)")),
        (SEGMENTS, SUM.format(begin="3 + I.maximum(0, 3 - e)"), SUM.format(begin="I.maximum(e, 3)")),
        (WHOLE, EACH.format(value="(x[i] - 1) * 1 + y[i]"), EACH.format(value="x[i] + y[i]")),
        (WHOLE, EACH.format(value="(x[i] - 0) * 0 + y[i]"), EACH.format(value="x[i] + y[i]")),
        (WHOLE, EACH.format(value=f"({NUMBER} * 8) >> 3"), EACH.format(value=NUMBER)),
        (WHOLE, EACH.format(value=f"({NUMBER} * 8) // 8"), EACH.format(value=NUMBER)),
        (WHOLE, EACH.format(value=f"{NUMBER} * 8 - 3"), EACH.format(value="I.cast(I.indices(i) * 8 + 3, I.i32)")),
        (WHOLE, EACH.format(value=NARROW), EACH.format(value="I.cast(I.indices(i) * 8, I.i32)")),
    ],
)
def test_different(parameters: str, first: str, second: str) -> None:
    assert verdict(parameters, first, second).answer == "different"
