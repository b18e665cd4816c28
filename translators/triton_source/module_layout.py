"""Laying out bracketed Python text as `ruff format --line-length 120` does."""

from __future__ import annotations

from collections.abc import Sequence

LINE_LENGTH = 120


def call(head: str, items: Sequence[str], tail: str = ")", indent: int = 0) -> str:
    """`head` ends with the opening bracket: on one line, or the items on a line of their own, or one item a line."""
    flat = " " * indent + head + ", ".join(items) + tail
    inner = " " * (indent + 4) + ", ".join(items)
    if len(flat) <= LINE_LENGTH:
        return flat
    if len(inner) <= LINE_LENGTH:
        return f"{' ' * indent}{head}\n{inner}\n{' ' * indent}{tail}"
    return _one_a_line(head, items, tail, indent)


def collection(head: str, items: Sequence[str], tail: str = ")", indent: int = 0) -> str:
    """A tuple, list or dictionary display: on one line, or one item a line. `tail` may include what follows."""
    comma = "," if len(items) == 1 and head.endswith("(") else ""
    flat = " " * indent + head + ", ".join(items) + comma + tail
    return flat if len(flat) <= LINE_LENGTH else _one_a_line(head, items, tail, indent)


def tuple_text(items: Sequence[str]) -> str:
    """A tuple display on one line."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def string(text: str) -> str:
    """A string literal, in double quotes where the text has none."""
    literal = repr(text)
    return f'"{literal[1:-1]}"' if literal.startswith("'") and '"' not in text else literal


def _one_a_line(head: str, items: Sequence[str], tail: str, indent: int) -> str:
    lines = "".join(f"{' ' * (indent + 4)}{item},\n" for item in items)
    return f"{' ' * indent}{head}\n{lines}{' ' * indent}{tail}"
