"""Diagnostics as data: codes, severities, spans. Rendering belongs to the command line."""

from __future__ import annotations

from typing import Literal

from intent.records import dataclass

Severity = Literal["error", "unsupported", "note"]


@dataclass(frozen=True, slots=True)
class Span:
    """A range of source text: 1-based lines, 1-based columns in characters, end exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


NOWHERE = Span("", 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Fix:
    """A safe edit: replace the text at `span`."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`message` states the fact in the author's terms; `help` states the edit that mends it.

    `code` is an INT### of `translators.diagnostic_codes`; `severity` distinguishes a program that breaks the language
    (error), a legal program we cannot lower yet (unsupported) and advice (note).
    """

    code: str
    severity: Severity
    message: str
    span: Span
    help: str | None = None
    fix: Fix | None = None


class Rejected(Exception):
    """Raised where a construct cannot be given a meaning; the reader records the diagnostic and goes on."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class InternalError(Exception):
    """A bug of the compiler: a stage gave what its contract rules out. Never raised for a mistake of the author."""
