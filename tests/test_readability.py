"""Generated Triton reads like Triton written by hand.

Ten kernels were written by hand first (tests/handwritten); a generated one has at most half as many lines again.
And in every generated module: no name unused, no line over 120, no expression of more than three nodes written twice,
and the layout that ruff gives it.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import generated_modules
import kernel_text
import pytest
import sample_files
from not_lowered_yet import NOT_LOWERED_YET

from translators.pipeline import Compilation

HANDWRITTEN = Path(__file__).parent / "handwritten"
LARGEST_RATIO = 1.5
BY_HAND = {path.stem: path for path in sorted(HANDWRITTEN.glob("*.py"))}
COMPILED = [each for each in sample_files.samples() if each.identity not in NOT_LOWERED_YET]
FILES = sorted({sample.path for sample in COMPILED})


def _compiled(path: Path) -> Compilation:
    sample = next(each for each in COMPILED if each.path == path)
    found = generated_modules.compilation(path, generated_modules.bindings(sample, {}))
    assert found.source is not None, generated_modules.rejections(found)
    return found


def _generated(path: Path) -> str:
    return _compiled(path).source or ""


def _functions(path: Path) -> tuple[list[ast.FunctionDef], list[ast.FunctionDef]]:
    """Those with plain loads, as those by hand, and others for them by which descriptors read tiles. Those by hand do
    not take sizes that need scratch memory.
    """
    found = _compiled(path)
    variants = [variant for code in found.codes for variant in code.variants]
    described = {variant.function for variant in variants if variant.described}
    beyond = {variant.function for variant in variants if variant.beyond}
    functions = [f for f in kernel_text.device_functions(found.source or "") if f.name not in beyond]
    return [f for f in functions if f.name not in described], [f for f in functions if f.name in described]


@pytest.mark.parametrize("name", BY_HAND)
def test_length_against_the_kernel_written_by_hand(name: str) -> None:
    by_hand = BY_HAND[name].read_text(encoding="utf-8")
    path = sample_files.SAMPLES / f"{name}.py"
    wanted = kernel_text.code_lines(by_hand, kernel_text.device_functions(by_hand))
    plain, described = _functions(path)
    for functions in (plain, *([each] for each in described)):
        actual = kernel_text.code_lines(_generated(path), functions)
        assert actual <= LARGEST_RATIO * wanted, f"{actual} lines, {wanted} by hand"


@pytest.mark.parametrize("name", BY_HAND)
def test_statements_against_the_kernel_written_by_hand(name: str) -> None:
    """Without regard to layout, and without the routines (conversions, tanh) that a generated kernel brings along."""
    by_hand = kernel_text.device_functions(BY_HAND[name].read_text(encoding="utf-8"))
    wanted = kernel_text.statements(by_hand)
    plain, described = _functions(sample_files.SAMPLES / f"{name}.py")
    for functions in (plain, *([each] for each in described)):
        actual = kernel_text.statements(each for each in functions if not each.name.startswith("_"))
        assert actual <= LARGEST_RATIO * wanted, f"{actual} statements, {wanted} by hand"


def test_there_are_ten_kernels_written_by_hand() -> None:
    assert len(BY_HAND) == 10
    assert set(BY_HAND) <= {sample.identity for sample in sample_files.samples()}


@pytest.mark.parametrize("path", list(BY_HAND.values()), ids=list(BY_HAND))
def test_kernels_written_by_hand_keep_the_rules_too(path: Path) -> None:
    _check(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_generated_kernels_keep_the_rules(path: Path) -> None:
    _check(_generated(path))


def _check(text: str) -> None:
    assert max(map(len, text.splitlines())) <= 120
    for function in kernel_text.device_functions(text):
        assert not kernel_text.unused_parameters(function), function.name
        assert not kernel_text.repeated_expressions(function), function.name


def test_generated_modules_satisfy_ruff(tmp_path: Path) -> None:
    for path in FILES:
        (tmp_path / path.name).write_text(_generated(path), encoding="utf-8")
    ruff = [sys.executable, "-m", "ruff"]
    lint = subprocess.run(
        [*ruff, "check", "--isolated", "--line-length", "120", "--select", "E,F,W,I,B,UP", tmp_path],
        capture_output=True,
        text=True,
    )
    assert lint.returncode == 0, lint.stdout
    layout = subprocess.run(
        [*ruff, "format", "--isolated", "--line-length", "120", "--diff", tmp_path], capture_output=True, text=True
    )
    assert layout.returncode == 0, layout.stdout
