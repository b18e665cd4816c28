"""Files: text that is hard to read, imports of other files, and every workload."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reading import HEADER, check_error, errors_of, in_kernel, write
from translators.intent_source.read import read_program
from translators.intent_source.read.liveness import always_leaves, liveness

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.py"))
GOOD = HEADER + in_kernel("o[0] = x[0] * 2.0")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_read(path: Path) -> None:
    result = read_program(path.read_text(encoding="utf-8"), str(path))
    assert not errors_of(result.diagnostics)
    assert result.program is not None and result.program.kernels


def only_error(text: str) -> tuple[str, int, int]:
    result = read_program(text, "test.py")
    (found,) = errors_of(result.diagnostics)
    return found.code, found.span.line, found.span.column


@pytest.mark.parametrize("text", ["\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace("\n", "\r")])
def test_line_ends_and_byte_order_mark(text: str) -> None:
    result = read_program(text, "test.py")
    assert not result.diagnostics and result.program is not None and len(result.program.kernels) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n", "import intent\n", "def kernel(x): pass\n"])
def test_files_without_a_kernel(text: str) -> None:
    assert only_error(text) == ("INT004", 1, 1)
    assert read_program(text, "test.py").program is None


def test_syntax_errors_have_a_place() -> None:
    assert only_error(HEADER + "def kernel(:\n") == ("INT001", 5, 12)
    assert only_error(GOOD + "    o[0] = (1.0\n")[:2] == ("INT001", 8)
    assert only_error(GOOD + "\0")[0] == "INT001"


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 5000 + "1.0" + ")" * 5000,
        "-" * 5000 + "x[0]",
        " + ".join(["x[0]"] * 5000),
        "x" + ".b" * 5000,
        "x" + "[0]" * 5000,
        "**".join(["2"] * 5000),
        "1.0 if n else " * 3000 + "2.0",
    ],
    ids=["parentheses", "minus", "sum", "attributes", "subscripts", "powers", "conditionals"],
)
def test_expressions_that_nest_too_deeply(expression: str) -> None:
    assert only_error(HEADER + in_kernel(f"o[0] = {expression}"))[:2] == ("INT003", 7)


def test_deep_but_sensible_nesting() -> None:
    body = "o[0] = " + " + ".join(["x[0]"] * 150)
    assert not read_program(HEADER + in_kernel(body), "test.py").diagnostics


def test_helpers_that_nest_too_deeply() -> None:
    helpers = "".join(f"@intent.fn\ndef f{i}(v):\n    return f{i - 1}(v) + 1.0\n" for i in range(1, 300))
    text = HEADER + "@intent.fn\ndef f0(v):\n    return v\n" + helpers + in_kernel("o[0] = f299(x[0])")
    assert only_error(text)[0] == "INT003"


def test_a_long_file() -> None:
    text = HEADER + in_kernel("v = x[0]\n" + "v = v + x[1] * 2.0\n" * 10_000 + "o[0] = v")
    assert not read_program(text, "test.py").diagnostics


def test_columns_count_characters() -> None:
    found = check_error(in_kernel("größe = x[0]; o[0] = größe + weite"), "INT101", "weite")
    assert found.span.column == 34


def test_nothing_of_the_file_runs() -> None:
    text = HEADER + "import nowhere.at.all\nraise SystemExit('executed')\n" + in_kernel("o[0] = 1.0")
    assert not read_program(text, "test.py").diagnostics


def test_the_program_keeps_text_and_docstrings() -> None:
    text = '"""Module."""\n' + HEADER + in_kernel('"""Kernel."""\no[0] = 1.0')
    program = read_program(text, "test.py").program
    assert program is not None
    assert (program.docstring, program.kernels[0].docstring) == ("Module.", "Kernel.")
    assert program.lines[0] == '"""Module."""' and program.kernels[0].span.line == 7


def test_reading_imports_no_libcst() -> None:
    command = "import translators.intent_source.read, sys; sys.exit('libcst' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", command], check=True)


# ------------------------------------------------------------------------------------------------------------- imports
SHARED = """
SCALE = 3.0

@intent.fn
def scaled(v):
    return own(v) * SCALE

@intent.fn
def own(v):
    return v + 1.0
"""


@pytest.mark.parametrize(
    ("statement", "call"),
    [
        ("from shared import scaled", "scaled(x[0])"),
        ("from shared import scaled as s", "s(x[0])"),
        ("from .shared import scaled, SCALE", "scaled(x[0]) * SCALE"),
        ("import shared", "shared.scaled(x[0]) * shared.SCALE"),
        ("import shared as m", "m.scaled(x[0])"),
        ("from . import shared", "shared.scaled(x[0])"),
        ("from package.inner import half", "half(x[0])"),
        ("import package.inner as m", "m.half(x[0])"),
    ],
)
def test_helpers_of_other_files(tmp_path: Path, statement: str, call: str) -> None:
    write(tmp_path, "shared.py", SHARED)
    (tmp_path / "package").mkdir()
    write(
        tmp_path / "package", "inner.py", "from ..shared import SCALE\n@intent.fn\ndef half(v):\n    return v * SCALE\n"
    )
    path = write(tmp_path, "main.py", statement + "\n" + in_kernel(f"o[0] = {call}"))
    result = read_program(path.read_text(encoding="utf-8"), str(path))
    assert not result.diagnostics and result.program is not None


@pytest.mark.parametrize(
    ("statement", "use", "message"),
    [
        ("from shared import scald", "scald(x[0])", "defines no 'scald'"),
        ("from nowhere import f", "f(x[0])", "no file of module"),
        ("from broken import f", "f(x[0])", "line 5: this is not Python"),
        ("from shared import *", "scaled(x[0])", "one by one"),
    ],
)
def test_imports_that_fail(tmp_path: Path, statement: str, use: str, message: str) -> None:
    write(tmp_path, "shared.py", SHARED)
    write(tmp_path, "broken.py", "def (\n")
    path = write(tmp_path, "main.py", statement + "\n" + in_kernel(f"o[0] = {use}"))
    found = errors_of(read_program(path.read_text(encoding="utf-8"), str(path)).diagnostics)
    assert found[0].code == "INT118" and message in found[0].message


def test_an_import_that_nobody_uses_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, "broken.py", "def (\n")
    path = write(tmp_path, "main.py", "import broken\nimport torch\n" + in_kernel("o[0] = 1.0"))
    assert not read_program(path.read_text(encoding="utf-8"), str(path)).diagnostics


def test_files_may_import_each_other(tmp_path: Path) -> None:
    write(tmp_path, "other.py", "from main import TOP\n@intent.fn\ndef f(v):\n    return v * TOP\n")
    path = write(tmp_path, "main.py", "from other import f\nTOP = 2.0\n" + in_kernel("o[0] = f(x[0])"))
    assert not read_program(path.read_text(encoding="utf-8"), str(path)).diagnostics


def test_an_error_in_an_imported_helper_points_there(tmp_path: Path) -> None:
    other = write(tmp_path, "other.py", "@intent.fn\ndef f(v):\n    return v + lost\n")
    path = write(tmp_path, "main.py", "from other import f\n" + in_kernel("o[0] = f(x[0])"))
    (found,) = read_program(path.read_text(encoding="utf-8"), str(path)).diagnostics
    assert (found.span.path, found.span.line) == (str(other), 7)


# ------------------------------------------------------------------------------------------------------------ liveness
def test_liveness_of_loops() -> None:
    import ast

    (function,) = ast.parse(
        "def f(a, n):\n    b = 0\n    for i in n:\n        t = a\n        b = b + t\n    return b\n"
    ).body
    assert isinstance(function, ast.FunctionDef)
    found = liveness(function)
    assert found.head[function.body[1]] == {"a", "b"}
    assert found.after[function.body[1]] == {"b"}
    assert always_leaves(function.body) and not always_leaves(function.body[:2])


def test_a_kernel_that_uses_a_wrong_definition_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "other.py", "@intent.fn()\ndef f(v):\n    return v\n")
    path = write(tmp_path, "main.py", "from other import f\n" + in_kernel("o[0] = f(x[0])\no[1] = 1.0"))
    result = read_program(path.read_text(encoding="utf-8"), str(path))
    assert [each.code for each in result.diagnostics] == ["INT103"]
    assert result.program is not None and result.program.kernels == ()
