"""A file's text as a syntax tree with positions: what is checked before anything is given a meaning.

Python's own parser is used, not LibCST: reading needs no concrete syntax, and this is many times faster to start.
"""

from __future__ import annotations

import ast
import re
import warnings

from intent.records import dataclass
from translators.diagnostics import Diagnostic, Fix, Rejected, Span
from translators.intent_source.read import codes
from translators.syntax_tree import children

DEEPEST = 200  # levels of nesting; every stage behind the reader walks values recursively
_OPENING = re.compile(r"(?:[-+~(\[{]\s*|\bnot\s+|\blambda\s*:\s*)+")


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its path, lines, and parsed body."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module
    ascii: bool

    def span(self, node: ast.AST) -> Span:
        """The range of a node; the tree counts columns in UTF-8 bytes, a span in characters."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_line, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        if not self.ascii:
            column, end_column = self._characters(line, column), self._characters(end_line, end_column)
        return Span(self.path, line, column + 1, end_line, end_column + 1)

    def respelling(self, node: ast.AST, name: str, meant: str | None) -> Fix | None:
        """The edit that puts `meant` in place of the name or dotted name that the node ends with, if it stands there in
        one piece."""
        span = self.span(node)
        line, start = self.lines[span.end_line - 1], span.end_column - 1 - len(name)
        if meant is None or start < 0 or line[start : span.end_column - 1] != name:
            return None
        return Fix(Span(self.path, span.end_line, start + 1, span.end_line, span.end_column), meant)

    def text(self, node: ast.AST) -> str | None:
        """What the author wrote, if it is on one line."""
        span = self.span(node)
        return self.lines[span.line - 1][span.column - 1 : span.end_column - 1] if span.line == span.end_line else None

    def _characters(self, line: int, column: int) -> int:
        return len(self.lines[line - 1].encode()[:column].decode(errors="ignore"))

    @property
    def start(self) -> Span:
        return Span(self.path, 1, 1, 1, len(self.lines[0]) + 1)

    def header(self, node: ast.AST) -> Span:
        """The first line of a compound statement."""
        whole = self.span(node)
        text = self.lines[whole.line - 1].rstrip()
        return Span(self.path, whole.line, whole.column, whole.line, max(len(text), whole.column) + 1)


def parse(text: str, path: str) -> Source:
    """The tree of a file; Rejected where it is no Python or nests too deeply to be walked."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = tuple(text.split("\n"))
    tree = _tree(text, path, lines)
    _check_depth(tree, path)
    return Source(path, lines, tree, text.isascii())


def _tree(text: str, path: str, lines: tuple[str, ...]) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as a suspicious escape: the author's, not ours
            return ast.parse(text)
    except SyntaxError as error:
        raise Rejected(_syntax_error(error, path, lines)) from None
    except ValueError as error:  # a null byte, on some versions of Python
        raise Rejected(Diagnostic(codes.SYNTAX, "error", str(error), _line_span(path, 1, lines))) from None
    except (RecursionError, MemoryError):
        raise Rejected(_too_deep(_deepest_span(path, lines))) from None


def _syntax_error(error: SyntaxError, path: str, lines: tuple[str, ...]) -> Diagnostic:
    if "nested parentheses" in (error.msg or ""):
        return _too_deep(_deepest_span(path, lines))
    line = min(max(error.lineno or 1, 1), len(lines))
    column = max(error.offset or 1, 1)
    end_line, end_column = error.end_lineno or line, error.end_offset or 0
    if end_line < line or (end_line == line and end_column <= column):
        end_line, end_column = line, column + 1
    span = Span(path, line, column, end_line, end_column)
    return Diagnostic(codes.SYNTAX, "error", f"this is not Python: {error.msg}", span)


def _too_deep(span: Span) -> Diagnostic:
    message = f"the code nests more than {DEEPEST} levels deep"
    return Diagnostic(codes.TOO_DEEP, "error", message, span, "name parts of it in statements of their own")


def _line_span(path: str, line: int, lines: tuple[str, ...]) -> Span:
    """A line from its first character that is no blank."""
    text = lines[line - 1]
    return Span(path, line, len(text) - len(text.lstrip()) + 1, line, max(len(text.rstrip()), 1) + 1)


def _deepest_span(path: str, lines: tuple[str, ...]) -> Span:
    """The parser does not say where it gave up: the longest run of what opens a level, or else the longest line."""
    runs = [(match.end() - match.start(), number, match) for number, line in enumerate(lines, 1)
            for match in _OPENING.finditer(line)]  # fmt: skip
    if runs:
        length, number, match = max(runs, key=lambda run: run[0])
        if length >= DEEPEST // 2:
            return Span(path, number, match.start() + 1, number, match.start() + 2)
    longest = max(range(len(lines)), key=lambda position: len(lines[position])) + 1
    return _line_span(path, longest, lines)


def _check_depth(tree: ast.Module, path: str) -> None:
    """Walk level by level, so that the check itself does not recurse."""
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        below: list[ast.AST] = []
        for node in level:
            below += children(node)
        if not below:
            return
        level = below
    deep = next((node for node in level if isinstance(node, (ast.expr, ast.stmt))), None)
    span = Span(path, 1, 1, 1, 2)
    if deep is not None and deep.end_lineno is not None and deep.end_col_offset is not None:
        span = Span(path, deep.lineno, deep.col_offset + 1, deep.end_lineno, deep.end_col_offset + 1)
    raise Rejected(_too_deep(span))
