"""Reading source text in tests: what came out, and where the errors point."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from translators.diagnostic_codes import CODES
from translators.diagnostics import Diagnostic
from translators.intent_source.read import read_program
from translators.logical.program import Kernel
from translators.logical.show import show_kernel

HEADER = "import intent\nimport intent.language as I\n\n\n"
_SIGNATURE = '@intent.kernel\ndef kernel(x: I.In[I.f32, ("N",)], n: I.i32, o: I.InOut[I.f32, ("N",)]):\n'


def in_kernel(body: str) -> str:
    """A file with one kernel of this body: a view x, a scalar n, and a writable view o."""
    return _SIGNATURE + "\n".join("    " + line for line in dedent(body).strip("\n").splitlines()) + "\n"


def read(text: str, constexprs: Mapping[str, object] | None = None, path: str = "test.py") -> Kernel:
    """The last kernel of a file that has no error."""
    result = read_program(HEADER + dedent(text), path, constexprs)
    assert not errors_of(result.diagnostics), result.diagnostics
    assert result.program is not None
    return result.program.kernels[-1]


def shown(text: str, constexprs: Mapping[str, object] | None = None) -> str:
    """The kernel's statements as text, without its first line."""
    return dedent(show_kernel(read(text, constexprs)).partition("\n")[2])


def errors(text: str, constexprs: Mapping[str, object] | None = None, path: str = "test.py") -> list[Diagnostic]:
    return errors_of(read_program(HEADER + dedent(text), path, constexprs).diagnostics)


def errors_of(diagnostics: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity != "note"]


def underlined(text: str, diagnostic: Diagnostic) -> str:
    """The source text that a diagnostic's span covers, its first line if there are several."""
    span = diagnostic.span
    line = (HEADER + dedent(text)).splitlines()[span.line - 1]
    return line[span.column - 1 : span.end_column - 1 if span.end_line == span.line else None]


def check_error(text: str, code: str, marked: str, constexprs: Mapping[str, object] | None = None) -> Diagnostic:
    """The file has exactly one error: this code, at this text."""
    found = errors(text, constexprs)
    assert [(each.code, underlined(text, each)) for each in found] == [(code, marked)], found
    assert code in CODES
    return found[0]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(HEADER + dedent(text), encoding="utf-8")
    return path
