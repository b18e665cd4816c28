"""The house rules that can be measured: sizes of functions and files, parameters, nesting, names."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Device functions are Triton source, which has a style of its own.
DEVICE = "translators/triton_source/device/"
FILES = sorted(
    path
    for package in ("intent", "translators", "intentc")
    for path in (ROOT / package).rglob("*.py")
    if DEVICE not in path.as_posix()
)
Function = ast.FunctionDef | ast.AsyncFunctionDef

LONGEST_FUNCTION = 60
LONGEST_FILE = 800  # 600 is what is aimed at
MOST_PARAMETERS = 6  # five and self
DEEPEST_NESTING = 4

VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc", "tools"}
# Functions whose parameters are an interface's: the options of a command, the arguments of an intrinsic.
MANY_PARAMETERS = {path for path in FILES if path.parent.name in ("commands", "rules")}


def _functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def _length(function: Function) -> int:
    """Lines of the whole definition without its docstring."""
    assert function.end_lineno is not None
    length = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        assert first.end_lineno is not None
        length -= first.end_lineno - first.lineno + 1
    return length


def _nesting(node: ast.AST) -> int:
    """The deepest chain of blocks below a node; an elif nests no deeper than its if, a match as its cases."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        block = isinstance(child, ast.If | ast.For | ast.While | ast.With | ast.Try | ast.Match)
        chained = isinstance(node, ast.If) and isinstance(child, ast.If) and child in node.orelse
        deepest = max(deepest, _nesting(child) + (block and not chained))
    return deepest


def _parameters(function: Function) -> int:
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert path.stem not in VAGUE
    assert text.count("\n") <= LONGEST_FILE
    assert not text.strip() or text.startswith('"""'), "a module begins by saying what it is for"
    for function in _functions(path):
        assert _length(function) <= LONGEST_FUNCTION, function.name
        assert _nesting(function) <= DEEPEST_NESTING, function.name
        assert _parameters(function) <= MOST_PARAMETERS or path in MANY_PARAMETERS, function.name


def test_functions_are_short() -> None:
    lengths = sorted(_length(function) for path in FILES for function in _functions(path))
    assert statistics.median(lengths) <= 10
    assert lengths[len(lengths) * 95 // 100] <= 40


def test_no_environment_variables_of_our_own() -> None:
    known = {"INTENTC_POISON", "_INTENTC_COMPLETE"}
    for path in FILES:
        assert set(re.findall(r"\b_?INTENTC_[A-Z_]+", path.read_text(encoding="utf-8"))) <= known, path


# The standard library's dataclasses cost half a millisecond each at start-up; options are a caller's to replace.
STANDARD_DATACLASSES = {"intent/records.py", "intent/targets.py"}


def test_records_are_cheap_to_define() -> None:
    for path in FILES:
        if path.relative_to(ROOT).as_posix() not in STANDARD_DATACLASSES:
            assert "from dataclasses" not in path.read_text(encoding="utf-8"), (
                f"{path}: import them from intent.records"
            )
