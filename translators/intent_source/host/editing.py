"""Text of a file with some of its parts replaced: what stays keeps the author's layout and comments."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from intent.records import dataclass
from translators.intent_source.read.source import Source
from translators.logical.composition import Text


@dataclass(frozen=True, slots=True)
class Edit:
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: Text = ()


class Document:
    """A file's characters, by the places of its syntax tree."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = "\n".join(source.lines)
        self._starts = [0, *accumulate(len(line) + 1 for line in source.lines)]

    def range(self, node: ast.AST) -> tuple[int, int]:
        span = self.source.span(node)
        return self._starts[span.line - 1] + span.column - 1, self._starts[span.end_line - 1] + span.end_column - 1

    def line_start(self, line: int) -> int:
        """Lines count from 1; one more than there are stands for the end."""
        return min(self._starts[line - 1], len(self.text))

    def line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def line(self, number: int) -> str:
        return self.source.lines[number - 1]

    # -------------------------------------------------------------------------------------------------------- extracts
    def extract(self, start: int, end: int, edits: Iterable[Edit]) -> Text:
        """The characters from `start` to `end` with those edits made that lie between."""
        pieces: list[object] = []
        position = start
        # Insertions come before what begins at the same place; a wider edit hides what lies within it.
        for edit in sorted(edits, key=lambda each: (each.start, each.end > each.start, -each.end)):
            if edit.start < position or edit.end > end:
                continue
            pieces += [self.text[position : edit.start], *edit.text]
            position = edit.end
        pieces.append(self.text[position:end])
        return joined(pieces)

    def expression(self, node: ast.expr, edits: Iterable[Edit]) -> Text:
        return self.extract(*self.range(node), edits)

    def block(self, first: int, last: int, indent: int, edits: Sequence[Edit]) -> Text:
        """Whole lines, moved to the left by `indent`; lines inside of string literals stay where they are."""
        inside = self._inside_strings()
        moved = [
            Edit(self.line_start(line), self.line_start(line) + indent)
            for line in range(first, last + 1)
            if indent and line not in inside and self.line(line).strip()
        ]
        end = self.line_start(last) + len(self.line(last))
        return self.extract(self.line_start(first), end, [*moved, *edits])

    def _inside_strings(self) -> set[int]:
        """Lines that begin within a string of several lines; documentation may be moved, and is not counted."""
        strings = [
            node
            for node in ast.walk(self.source.tree)
            if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        ]
        documentation = {
            statement.value
            for node in ast.walk(self.source.tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for statement in node.body[:1]
            if isinstance(statement, ast.Expr)
        }
        return {
            line
            for node in strings
            if node not in documentation and node.end_lineno is not None
            for line in range(node.lineno + 1, node.end_lineno + 1)
        }

    def comments_above(self, line: int, indent: int) -> int:
        """The first of the comment lines that stand right above a line."""
        while line > 1 and self.line(line - 1).startswith(" " * indent + "#"):
            line -= 1
        return line

    def removal(self, statement: ast.stmt, starts_block: bool) -> Edit | None:
        """Deletes the lines of a statement, and the blank ones below where none may stand; None if they hold more."""
        assert statement.end_lineno is not None
        start, end = self.range(statement)
        first, last = statement.lineno, statement.end_lineno
        before = self.text[self.line_start(first) : start]
        after = self.text[end : self.line_start(last) + len(self.line(last))]
        if before.strip() or after.split("#")[0].strip():
            return None
        below = last + 1
        if starts_block or not self.line(first - 1).strip():
            while below <= len(self.source.lines) and not self.line(below).strip():
                below += 1
        return Edit(self.line_start(first), self.line_start(below))


def joined(pieces: Iterable[object]) -> Text:
    """Neighbouring strings as one."""
    found: list[object] = []
    for piece in pieces:
        if isinstance(piece, str) and found and isinstance(found[-1], str):
            found[-1] += piece
        elif piece != "":
            found.append(piece)
    return tuple(found)  # type: ignore[arg-type]  # strings and references, as they came in
