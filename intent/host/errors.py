"""What compiling from Python raises: the diagnostics of the compiler, as exceptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from translators.diagnostics import Diagnostic


class CompileError(Exception):
    """The kernel, or its file, breaks a rule of the language. `diagnostics` says which, and where."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message, diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedError(NotImplementedError):
    """The kernel is legal and the compiler cannot handle it yet: a gap of the compiler, not the author's mistake."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message, diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(self.args[0])


def failure(diagnostics: Iterable[Diagnostic], lines: Sequence[str]) -> CompileError | UnsupportedError:
    """The exception for a rejection. `lines` is the text of the file that was compiled."""
    found = tuple(each for each in diagnostics if each.severity != "note")
    message = "\n".join(line for each in found for line in _described(each, lines))
    if any(each.severity == "error" for each in found):
        return CompileError(message, found)
    return UnsupportedError(message, found)


def _described(diagnostic: Diagnostic, lines: Sequence[str]) -> list[str]:
    """Message, source line and help. Spans in imported files have no line to show."""
    span = diagnostic.span
    described = [
        f"{span.path}:{span.line}:{span.column}: {diagnostic.severity}[{diagnostic.code}] {diagnostic.message}"
    ]
    if 0 < span.line <= len(lines):
        described.append(f"    {lines[span.line - 1].strip()}")
    if diagnostic.help:
        described.append(f"    help: {diagnostic.help}")
    return described
