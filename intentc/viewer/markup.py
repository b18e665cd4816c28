"""HTML and SVG as values: text is escaped, elements are not, so that nothing of a program can become markup."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = frozenset({"meta", "input", "br", "link"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | int | Iterable["Child"] | None


def element(tag: str, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """`<tag attribute="value">children</tag>`.

    A trailing `_` of an attribute's name is dropped and other `_` are hyphens; True stands for an attribute without a
    value, None and False for none at all.
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*children: Child) -> Markup:
    """The children one after the other."""
    return Markup("".join(_child(child) for child in children))


def _child(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return html.escape(str(child), quote=False)
    return "".join(_child(each) for each in child)


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    known = name.rstrip("_").replace("_", "-")
    known = {"viewbox": "viewBox"}.get(known, known)
    return f" {known}" if value is True else f' {known}="{html.escape(str(value))}"'
