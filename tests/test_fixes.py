"""The edits that diagnostics carry: each gives the program that was meant; none is offered where that is a guess."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from command_line import ROOT
from edits import applied

from translators.diagnostics import Diagnostic, Fix
from translators.pipeline import check_text

HEADER = """\
import math

import numpy as np

import intent
import intent.language as I


class Mode(I.Enum):
    CAUSAL = 0
    FULL = 1


@intent.fn
def scaled(v, factor):
    return v * factor


"""
KERNEL = """\
@intent.kernel
def k(x: I.In[I.f32, ("N",)], n: I.f32, count: I.i32, y: I.Out[I.f32, ("N",)]):
    rows = I.domain(0, x.shape[0])
    width = n
    both = I.record(first=x[rows], second=x[rows])
    y[rows] = {value}
"""


def _errors(text: str, path: str = "k.py") -> list[Diagnostic]:
    return [each for each in check_text(text, path).diagnostics if each.severity == "error"]


def _fix(text: str) -> Fix | None:
    (found,) = _errors(text)
    return found.fix


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("I.expp(x[rows])", "I.exp(x[rows])"),
        ("I.reduce.summ(x[rows], axis=0) * x[rows]", "I.reduce.sum(x[rows], axis=0) * x[rows]"),
        ("I.cast(x[rows], I.float32)", "I.cast(x[rows], I.f32)"),
        ("I.cast(x[rows], I.f23)", "I.cast(x[rows], I.f32)"),
        ("x[rows] * widht", "x[rows] * width"),
        ("scald(x[rows], n)", "scaled(x[rows], n)"),
        ("I.select(Mode.CAUSL == Mode.FULL, x[rows], x[rows])", "I.select(Mode.CAUSAL == Mode.FULL, x[rows], x[rows])"),
        ("x[rows] * abs(n)", "x[rows] * I.abs(n)"),
        ("x[rows] * max(n, width)", "x[rows] * I.maximum(n, width)"),
        ("x[rows] * math.exp(n)", "x[rows] * I.exp(n)"),
        ("both.secnd", "both.second"),
        ("(both\n        .secnd)", "(both\n        .second)"),
        ('I.cast(x[rows], I.dtype("float32"))', 'I.cast(x[rows], I.dtype("f32"))'),
        ("I . expp (x[rows])", "I . exp (x[rows])"),
        ("x[rows] / x.shape[0]", "x[rows] / I.cast(x.shape[0], I.f32)"),
        ("(count + 1) * x[rows]", "(I.cast(count + 1, I.f32)) * x[rows]"),
        ("I.select(I.indices(rows) < count, x[rows], n)",
         "I.select(I.indices(rows) < I.cast(count, I.index), x[rows], n)"),
        ("I.cast(x[rows], I.f16) + x[rows]", None),
        ("I.cast(I.cast(count, I.i64) + count, I.f32)", None),
        ("I.cast(count < (0 < x[rows]), I.f32)", None),
        ("x[rows] * 'é'.expp", None),
        ("I.softplus(x[rows])", None),
        ("x[rows] * max(n, width, n)", None),
        ("x[rows] * sum(x[rows])", None),
        ("x[rows] * both.third", None),
    ],
)  # fmt: skip
def test_in_a_statement(wrong: str, right: str | None) -> None:
    text = HEADER + KERNEL.format(value=wrong)
    fix = _fix(text)
    if right is None:
        assert fix is None
    else:
        assert fix is not None
        assert applied(text, fix) == HEADER + KERNEL.format(value=right)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('I.In[I.float32, ("N",)]', 'I.In[I.f32, ("N",)]'),
        ('I.In["f32", ("N",)]', 'I.In[I.f32, ("N",)]'),
        ('I.In[I.f32, "N"]', 'I.In[I.f32, ("N",)]'),
        ("I.In[I.f32, 8]", "I.In[I.f32, (8,)]"),
        ('I.In[I.f32, ("8",)]', "I.In[I.f32, (8,)]"),
        ('I.Inn[I.f32, ("N",)]', 'I.In[I.f32, ("N",)]'),
        ("Mode", "I.Constexpr[Mode]"),
        ("int", None),
    ],
)
def test_in_an_annotation(wrong: str, right: str | None) -> None:
    kernel = "@intent.kernel\ndef k(y: I.Out[I.f32, (8,)], a: {}):\n    y[0] = 1.0\n"
    text = HEADER + kernel.format(wrong)
    fix = _errors(text)[0].fix
    assert fix is None if right is None else fix is not None and applied(text, fix) == HEADER + kernel.format(right)


def test_parentheses_of_a_decorator() -> None:
    text = HEADER + KERNEL.format(value="x[rows]").replace("@intent.kernel", "@intent.kernel()")
    fix = _fix(text)
    assert fix is not None and applied(text, fix) == HEADER + KERNEL.format(value="x[rows]")


def test_what_the_file_calls_the_language() -> None:
    text = (HEADER + KERNEL.format(value="x[rows] * max(n, width)")).replace("language as I\n", "language as lang\n")
    text = text.replace("I.", "lang.")
    fix = _fix(text)
    assert fix is not None and fix.replacement == "lang.maximum"


def test_the_value_of_an_augmented_assignment_is_cast_and_never_its_target() -> None:
    kernel = KERNEL.format(value="x[rows] * total")
    begun = kernel.replace("    width = n\n", "    width = n\n    total = n\n    total += count\n")
    fix = _fix(HEADER + begun)
    assert fix is not None
    assert applied(HEADER + begun, fix) == HEADER + begun.replace("+= count", "+= I.cast(count, I.f32)")
    begun = begun.replace("total = n", "total = count").replace("+= count", "+= n").replace("* total", "")
    assert _fix(HEADER + begun) is None


def test_nothing_is_offered_where_two_names_are_as_close() -> None:
    kernel = KERNEL.format(value="x[rows] * row").replace("width = n", "rowa, rowb = n, n")
    kernel = kernel.replace("rows", "domain").replace("* row\n", "* rowc\n")
    assert _fix(HEADER + kernel) is None


def test_a_name_that_is_misspelt_anywhere_is_restored() -> None:
    """One letter of one name of a sample is doubled: the edit that is offered gives the sample again."""
    chosen = random.Random(5)
    tried = restored = 0
    for path in sorted((ROOT / "samples").glob("*.py"))[::4]:
        text = path.read_text(encoding="utf-8")
        for misspelt in _misspelt(text, chosen):
            fixes = [each.fix for each in _errors(misspelt, path.name) if each.fix is not None]
            tried += 1
            restored += len(fixes) == 1 and applied(misspelt, fixes[0]) == text
            assert all(_mends(misspelt, fix, path) for fix in fixes), path
    assert tried > 30 and restored >= tried - 1


def _misspelt(text: str, chosen: random.Random) -> list[str]:
    """The text with the name of an intrinsic in a kernel misspelt."""
    lines = text.split("\n")
    nodes = [
        node for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "I"
        and node.end_col_offset is not None and len(node.attr) > 3 and lines[node.lineno - 1].isascii()
    ]  # fmt: skip
    made = []
    for node in chosen.sample(nodes, min(1, len(nodes))):
        line = lines[node.lineno - 1]
        assert node.end_col_offset is not None
        changed = line[: node.end_col_offset] + node.attr[-1] + line[node.end_col_offset :]
        made.append("\n".join([*lines[: node.lineno - 1], changed, *lines[node.lineno :]]))
    return made


def _mends(text: str, fix: Fix, path: Path) -> bool:
    """Whether the diagnostic is gone after its edit, and none is there that was not before."""
    before = [(each.code, each.message) for each in _errors(text, path.name) if each.fix != fix]
    return all((each.code, each.message) in before for each in _errors(applied(text, fix), path.name))
