"""What a text becomes by the edit of a diagnostic."""

from __future__ import annotations

from translators.diagnostics import Fix


def applied(text: str, fix: Fix) -> str:
    """The text with what stands at the fix's span replaced."""
    lines = text.splitlines(keepends=True)
    first = sum(map(len, lines[: fix.span.line - 1])) + fix.span.column - 1
    last = sum(map(len, lines[: fix.span.end_line - 1])) + fix.span.end_column - 1
    return text[:first] + fix.replacement + text[last:]
