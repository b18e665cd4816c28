"""Listings of Python with line numbers, coloured, and linked line by line."""

from __future__ import annotations

import ast
import contextlib
import io
import keyword
import tokenize
from collections.abc import Iterator, Mapping, Sequence

from intent.records import dataclass, field
from intentc.viewer.markup import Markup, element, joined

_SOFT = frozenset({"True", "False", "None", "match", "case"})


@dataclass(frozen=True, slots=True)
class Listing:
    """Some lines of a file: `numbers` are those to show, `name` the prefix of the lines' ids.

    `links` has, for a line, the ids of the lines elsewhere that it corresponds to; `loose` lines only serve those that
    they are linked to.
    """

    name: str
    lines: Sequence[str]
    numbers: Sequence[int]
    links: Mapping[int, Sequence[str]] = field(default_factory=dict)
    loose: frozenset[int] = frozenset()
    offset: int = 0  # what to add to a number to show it

    def line_id(self, number: int) -> str:
        return f"{self.name}-{number}"


def listing(shown: Listing, label: str) -> Markup:
    """An ordered list of lines. Linked ones can be reached by the keyboard; their number leads to the other side."""
    coloured = highlighted(shown.lines)
    rows, before = [], None
    for number in shown.numbers:
        if before is not None and number != before + 1:
            rows.append(element("li", "⋯", class_="skip", aria_hidden="true"))
        rows.append(_row(shown, number, coloured[number - 1]))
        before = number
    return element("ol", rows, class_="code", aria_label=label)


def _row(shown: Listing, number: int, text: Markup) -> Markup:
    targets = shown.links.get(number, ())
    label = str(number + shown.offset)
    gutter = (
        element("a", label, class_="number", href=f"#{targets[0]}", tabindex=-1, aria_hidden="true")
        if targets
        else element("span", label, class_="number")
    )
    kind = "line" + (" linked" if targets else "") + (" loose" if number in shown.loose else "")
    return element(
        "li", gutter, element("code", text or Markup("&#8203;")), id=shown.line_id(number), class_=kind,
        data_to=" ".join(targets) or None, tabindex=0 if targets else None,
    )  # fmt: skip


def highlighted(lines: Sequence[str]) -> list[Markup]:
    """Each line with its keywords, names of definitions, numbers, strings and comments marked."""
    marks: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    previous = ""
    for token in _tokens(lines):
        kind = _kind(token, previous)
        if kind:
            for line in range(token.start[0], min(token.end[0], len(lines)) + 1):
                start = token.start[1] if line == token.start[0] else 0
                end = token.end[1] if line == token.end[0] else len(lines[line - 1])
                marks[line - 1].append((start, end, kind))
        if token.string.strip():
            previous = token.string
    return [_marked(line, found) for line, found in zip(lines, marks, strict=True)]


def _tokens(lines: Sequence[str]) -> Iterator[tokenize.TokenInfo]:
    """Those up to the first fault, if the text is no Python."""
    with contextlib.suppress(tokenize.TokenError, IndentationError, SyntaxError):
        yield from tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline)


def _kind(token: tokenize.TokenInfo, previous: str) -> str:
    match token.type:
        case tokenize.COMMENT:
            return "c"
        case tokenize.STRING:
            return "s"
        case tokenize.NUMBER:
            return "n"
        case tokenize.NAME if keyword.iskeyword(token.string) or token.string in _SOFT:
            return "k"
        case tokenize.NAME if previous in ("def", "class"):
            return "d"
        case _:
            return ""


def _marked(line: str, marks: Sequence[tuple[int, int, str]]) -> Markup:
    parts: list[str] = []
    at = 0
    for start, end, kind in marks:
        parts += [line[at:start], element("i", line[start:end], class_=kind)]
        at = end
    return joined(*parts, line[at:])


def definitions(text: str) -> dict[str, tuple[int, int]]:
    """The first and last line of every function and class at the top of a file, decorators included."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found[node.name] = (first, node.end_lineno or node.lineno)
    return found


def bindings(text: str, function: str) -> dict[str, int]:
    """Where a function first gives each of its names a value."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    found[inner.id] = min(found.get(inner.id, inner.lineno), inner.lineno)
    return found
