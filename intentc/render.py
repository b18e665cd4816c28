"""Diagnostics as text for people: the source line, a caret, and the edit that helps."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from intent.records import dataclass, field
from translators.diagnostics import Diagnostic, Fix, Span

WIDEST: Final = 160  # characters of a source line; more is cut around the caret
_RESET: Final = "\033[0m"
_BOLD: Final = "\033[1m"
_COLOURS: Final[Mapping[str, str]] = {"error": "\033[1;31m", "unsupported": "\033[1;33m", "note": "\033[1;36m"}


@dataclass(slots=True)
class Sources:
    """The lines of the files that diagnostics point into; files other than the inputs are read when first needed."""

    lines: dict[str, Sequence[str]] = field(default_factory=dict)

    def add(self, path: str, text: str) -> None:
        self.lines[path] = _split(text)

    def line(self, path: str, number: int) -> str | None:
        if path not in self.lines:
            self.lines[path] = _lines_of(path)
        lines = self.lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else None


def _lines_of(path: str) -> Sequence[str]:
    try:
        return _split(Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ()


def _split(text: str) -> Sequence[str]:
    """Lines as Python's parser counts them: form feeds and other separators of Unicode end no line."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def colourful(stream: TextIO) -> bool:
    """Whether to use colours: on a terminal, unless the user says otherwise."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def concise(diagnostic: Diagnostic) -> str:
    """`path:line:column: severity[CODE] message`."""
    return f"{place(diagnostic.span)}{diagnostic.severity}[{diagnostic.code}] {diagnostic.message}"


def place(span: Span) -> str:
    """`path:line:column: `, or nothing if the diagnostic has no place."""
    if not span.line:
        return f"{span.path}: " if span.path else ""
    return f"{span.path}:{span.line}:{span.column}: "


def full(diagnostic: Diagnostic, sources: Sources, colour: bool = False) -> str:
    """Several lines: what, where, the source line with a caret, help and fix."""
    paint = _COLOURS[diagnostic.severity] if colour else ""
    bold, reset = (_BOLD, _RESET) if colour else ("", "")
    head = f"{paint}{diagnostic.severity}[{diagnostic.code}]{reset}{bold}: {diagnostic.message}{reset}"
    margin = " " * len(str(diagnostic.span.line))
    lines = [head, *_snippet(diagnostic.span, sources, margin, paint, reset)]
    if diagnostic.help:
        lines.append(f"{margin} = help: {_indented(diagnostic.help, margin)}")
    if diagnostic.fix and diagnostic.fix.replacement not in (diagnostic.help or ""):
        lines.append(f"{margin} = fix: {_describe(diagnostic.fix, diagnostic.span, margin)}")
    return "\n".join(lines)


def _snippet(span: Span, sources: Sources, margin: str, paint: str, reset: str) -> list[str]:
    if not span.line:
        return [f"{margin}--> {span.path}"] if span.path else []
    lines = [f"{margin}--> {span.path}:{span.line}:{span.column}"]
    text = sources.line(span.path, span.line)
    if text is None:
        return lines
    end = span.end_column if span.end_line == span.line else len(text) + 1
    shown, start, width = _window(text, span.column - 1, max(end - 1, span.column))
    caret = " " * start + paint + "^" * width + reset
    return [*lines, f"{margin} |", f"{span.line} | {shown}".rstrip(), f"{margin} | {caret}"]


def _window(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The line as it is shown, and the caret's place and width in columns of the terminal."""
    if len(text) > WIDEST:
        first = max(0, min(start - WIDEST // 4, len(text) - WIDEST))
        cut = text[first : first + WIDEST]
        text = ("…" if first else "") + cut + ("…" if first + WIDEST < len(text) else "")
        shift = first - bool(first)
        start, end = start - shift, min(end - shift, len(text))
    before, marked = _printable(text[:start]), _printable(text[start:end])
    return before + marked + _printable(text[end:]), _columns(before), max(_columns(marked), 1)


def _printable(text: str) -> str:
    """Tabs as four spaces; whatever else would move the cursor or recolour the terminal as a replacement character."""
    expanded = text.replace("\t", "    ")
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in expanded)


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in text
    )


def _indented(text: str, margin: str) -> str:
    """Continuation lines stand under the first."""
    return text.replace("\n", f"\n{margin}         ")


def _describe(fix: Fix, at: Span, margin: str) -> str:
    where = "" if fix.span.line == at.line else f"line {fix.span.line}: "
    if not fix.replacement:
        return f"{where}remove columns {fix.span.column} to {fix.span.end_column - 1}"
    if (fix.span.line, fix.span.column) == (fix.span.end_line, fix.span.end_column):
        return f"{where}insert {_indented(fix.replacement, margin)}"
    return f"{where}write {_indented(fix.replacement, margin)}"


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 unsupported, 3 notes`; empty if there are none."""
    severities = [diagnostic.severity for diagnostic in diagnostics]
    counts = {"error": "errors", "unsupported": "unsupported", "note": "notes"}
    parts = []
    for singular, plural in counts.items():
        count = severities.count(singular)  # type: ignore[arg-type]
        if count:
            parts.append(f"{count} {singular if count == 1 else plural}")
    return ", ".join(parts)


def say(text: str) -> None:
    """Print to standard error, where everything goes that is neither program text nor data."""
    print(text, file=sys.stderr)
