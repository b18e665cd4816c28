"""Host functions with other names in them: what changed is laid out as `ruff format --line-length 120` does."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from translators.triton_source.module_layout import LINE_LENGTH, call, collection

_MAGIC_COMMA = re.compile(r",\s*\n\s*[)\]}]")
_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


def laid_out(text: str) -> str:
    """What a name made too long is split, and what it made short enough is on one line again."""
    lines = text.split("\n")
    tree = ast.parse(text)
    places = [place for node in ast.walk(tree) if (place := _place(node)) is not None]
    for first, last in sorted(places, reverse=True):
        lines[first - 1 : last] = _statement(lines[first - 1 : last])
    return "\n".join(lines)


def _place(node: ast.AST) -> tuple[int, int] | None:
    """The lines of a simple statement, or of a function's head."""
    match node:
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Return():
            return node.lineno, node.end_lineno or node.lineno
        case ast.FunctionDef(body=[first, *_]):
            return node.lineno, max(node.lineno, first.lineno - 1)
        case _:
            return None


def _statement(lines: list[str]) -> list[str]:
    text = "\n".join(lines)
    if any(mark in text for mark in ("#", '"""', "'''", "\\\n")) or _MAGIC_COMMA.search(text):
        return lines
    flat = _joined(lines)
    if len(flat) <= LINE_LENGTH:
        return lines if _grouped(lines) else [flat]
    return _split(flat).split("\n") if any(len(line) > LINE_LENGTH for line in lines) else lines


def _grouped(lines: list[str]) -> bool:
    """Whether the statement's whole value stands in parentheses, which would have to go too."""
    return len(lines) > 1 and re.search(r"(=|return)\s*\($", lines[0]) is not None


def _joined(lines: list[str]) -> str:
    flat = lines[0].rstrip()
    for line in lines[1:]:
        part = line.strip()
        close = flat.endswith(_OPENING) or part.startswith(_CLOSING)
        flat += part if close or not part else f" {part}"
    return flat


def _split(flat: str) -> str:
    """The parts of the call or display that is the statement's value, on lines of their own."""
    indent = len(flat) - len(flat.lstrip())
    statement = flat.strip()
    if statement.startswith("def ") or not flat.isascii():  # a tree counts bytes
        return flat
    text = f"def _(): {statement}" if statement.startswith("return") else statement
    match _value(ast.parse(text).body[0]):
        case ast.Call(func=function, args=args, keywords=keywords) if args or keywords:
            end = text.index("(", function.end_col_offset or 0) + 1
            items = _segments(text, [*args, *keywords])
            return call(text[:end].removeprefix("def _(): "), items, indent=indent)
        case ast.Dict(keys=keys, values=values) as display if None not in keys:
            pairs = zip(_segments(text, keys), _segments(text, values), strict=True)
            items = [f"{key}: {value}" for key, value in pairs]
            return _display(text, display, items, indent)
        case ast.List(elts=parts) as display:
            return _display(text, display, _segments(text, parts), indent)
        case _:
            return flat


def _value(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Assign(value=value) | ast.Expr(value=value):
            return value
        case ast.FunctionDef(body=[ast.Return(value=value)]):
            return value
        case _:
            return None


def _display(text: str, node: ast.expr, items: list[str], indent: int) -> str:
    head = text[: node.col_offset + 1].removeprefix("def _(): ")
    return collection(head, items, text[-1], indent)


def _segments(text: str, nodes: Sequence[ast.AST | None]) -> list[str]:
    """Texts of nodes, in the order in which they stand."""
    places = sorted((node.col_offset, node.end_col_offset) for node in nodes)  # type: ignore[union-attr]
    return [text.encode()[start:end].decode() for start, end in places]
