"""Text with places where it may break, and its layout within a width.

A group is written on one line if it fits there together with what follows up to the next possible break; else the
breaks that are its own become new lines. Nested groups decide for themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from intent.records import dataclass


@dataclass(frozen=True, slots=True)
class Break:
    """A new line where the group around it is broken, else the text `flat`."""

    flat: str = ""


@dataclass(frozen=True, slots=True)
class IfBroken:
    """Text that is written only where the group around it is broken."""

    text: str


@dataclass(frozen=True, slots=True)
class Indented:
    content: Document


@dataclass(frozen=True, slots=True)
class Group:
    content: Document


Document = Union[str, Break, IfBroken, Indented, Group, "tuple[Document, ...]"]
SPACE = Break(" ")
NOTHING = Break()


def laid_out(document: Document, width: int, indent: int, expanded: bool = False) -> list[str]:
    """The lines, each with its indentation. What is in no group is broken; with `expanded`, every group is."""
    lines = [" " * indent]
    stack: list[tuple[int, bool, Document]] = [(indent, True, document)]
    while stack:
        level, broken, item = stack.pop()
        match item:
            case str():
                lines[-1] += item
            case Break() if broken:
                lines.append(" " * level)
            case Break(flat=text):
                lines[-1] += text
            case IfBroken(text=text):
                lines[-1] += text if broken else ""
            case Indented(content=content):
                stack.append((level + 4, broken, content))
            case Group(content=content):
                flat = not expanded and _fits(content, stack, width - len(lines[-1]))
                stack.append((level, not flat, content))
            case tuple():
                stack.extend((level, broken, part) for part in reversed(item))
    return [line.rstrip() for line in lines]


def _fits(content: Document, rest: Sequence[tuple[int, bool, Document]], room: int) -> bool:
    """Whether the content, unbroken, and what follows up to the next possible break fit in the room."""
    waiting: list[tuple[bool, Document]] = [(False, content)]
    left = len(rest)  # of what follows; the next is the last
    while room >= 0:
        if waiting:
            broken, item = waiting.pop()
        elif left:
            left -= 1
            _, broken, item = rest[left]
        else:
            return True
        match item:
            case str():
                room -= len(item)
            case Break() if broken:
                return True
            case Break(flat=text):
                room -= len(text)
            case IfBroken(text=text):
                room -= len(text) if broken else 0
            case Indented(content=inner) | Group(content=inner):
                waiting.append((broken, inner))
            case tuple():
                waiting += [(broken, part) for part in reversed(item)]
    return False
