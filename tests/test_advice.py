"""Advice: notes on what the plan shows could be better, given where that is sure and nowhere else."""

from __future__ import annotations

import pytest
from program_runs import compiled

ADVICE = {"INT954", "INT955", "INT956", "INT958", "INT959"}
VECTOR = 'x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]'
PRODUCT = 'a: I.In[I.f16, ("M", "K")], b: I.In[I.f16, ("K", "N")], c: I.Out[I.f32, ("M", "N")]'
ROWS = 'x: I.In[I.f32, ("R", "N")], y: I.Out[I.f32, ("R",)]'
MULTIPLY = "I.matmul(a[:, :], b[:, :], acc_dtype=I.f32)"
STEPS = "for i in range({0}):\n        s = s * 0.5 + x[{1}i]\n    y[{1}0] = s"
SUM = "I.reduce.sum(x[:], axis=0)"
LENGTHS = 'x: I.In[I.f32, ("R", "N")], starts: I.In[I.i64, ("P",)], y: I.Out[I.f32, ("R",)]'


def _advice(parameters: str, body: str) -> list[tuple[str, int]]:
    """Codes of advice and the line of the body, from 1, that each points at."""
    found = compiled(f"@intent.kernel\ndef k({parameters}):\n    {body}\n")
    first = 1 + next(number for number, line in enumerate(found.program.lines, 1) if line.startswith("def k("))
    return [(note.code, note.span.line - first + 1) for note in found.diagnostics if note.code in ADVICE]


@pytest.mark.parametrize(
    ("parameters", "body", "expected"),
    [
        (VECTOR, "y[:] = x[:] * 2.0", "INT954"),
        (VECTOR, "y[:] = I.exp(x[:])", "INT954"),
        (VECTOR, "y[:] = I.exp(x[:]) + 1.0", None),
        (VECTOR, "y[:] = x[:] * x[:] + x[:]", None),
        (VECTOR, "y[I.domain(0, x.shape[0])] = I.cast(I.indices(I.domain(0, x.shape[0])), I.f32)", None),
        (PRODUCT, f"c[:, :] = {MULTIPLY}", "INT955"),
        (PRODUCT, f"c[:, :] = I.maximum({MULTIPLY}, 0.0)", None),
        (PRODUCT, f"c[:, :] = {MULTIPLY.replace('a[:, :]', 'I.maximum(a[:, :], 0.0)')}", None),
        (VECTOR, f"s = I.cast(0.0, I.f32)\n    {STEPS.format('x.shape[0]', '')}", "INT956"),
        (VECTOR, f"s = I.cast(0.0, I.f32)\n    {STEPS.format('4', '')}", None),
        (VECTOR, f"y[0] = {SUM}", "INT958"),
        (VECTOR, f"y[:] = x[:] - {SUM}", "INT958"),
    ],
)
def test_where_advice_is_given(parameters: str, body: str, expected: str | None) -> None:
    assert [code for code, _ in _advice(parameters, body)] == ([expected] if expected else [])


def test_rows_of_a_size_that_may_be_large_are_programs_enough() -> None:
    rows = "for r in I.parallel(I.domain(0, x.shape[0])):\n        "
    steps = STEPS.format("x.shape[1]", "r, ").replace("y[r, 0]", "y[r]").replace("\n    ", "\n        ")
    assert not _advice(ROWS, f"{rows}s = I.cast(0.0, I.f32)\n        {steps}")
    assert not _advice(ROWS, "y[:] = I.reduce.sum(x[:, :], axis=1)")
    assert _advice(ROWS.replace('"R"', "4"), "y[:] = I.reduce.sum(x[:, :], axis=1)") == [("INT958", 1)]
    assert not _advice(ROWS.replace('"R"', "4096"), "y[:] = I.reduce.sum(x[:, :], axis=1)")
    assert not _advice(ROWS.replace('"R"', "4").replace('"N"', "16"), "y[:] = I.reduce.sum(x[:, :], axis=1)")


@pytest.mark.parametrize(
    ("end", "expected"), [("starts[r + 1]", ["INT959"]), ("starts[r] + 4", []), ("starts[0]", []), ("x.shape[1]", [])]
)
def test_work_is_ragged_where_lengths_differ_between_programs(end: str, expected: list[str]) -> None:
    begin = "starts[r]" if "r]" in end or "+ 1" in end else "0"
    body = (
        "for r in I.parallel(I.domain(0, x.shape[0])):\n"
        "        I.assume_in_bounds(r + 1, starts, axis=0)\n"
        f"        n = I.domain(I.cast({begin}, I.index), I.cast({end}, I.index))\n"
        "        I.assume_in_bounds(n, x, axis=1)\n"
        "        y[r] = I.reduce.sum(x[r, n], axis=0)"
    )
    assert [code for code, _ in _advice(LENGTHS, body)] == expected
