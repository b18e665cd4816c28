"""Loads and stores that are too long for a line hand parts to names, as a person would: mask, value, pointers.

a_mask = m_mask[:, None] & k_mask[None, :]
a = tl.load(a_ptr + m[:, None] * stride_a_m + k[None, :] * stride_a_k, mask=a_mask, other=0.0)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from translators.printing.layout import INDENT, WIDTH
from translators.triton_source.lines import Line, Part, called, parsed, replaced
from translators.triton_source.telling_names import Vocabulary, accessed_view


def shortened(lines: Sequence[Line], vocabulary: Vocabulary) -> list[Line]:
    return [short for line in lines for short in _shortened(line, vocabulary)]


def _shortened(line: Line, vocabulary: Vocabulary) -> list[Line]:
    """The line, or the assignments that make it fit and what is left of it; as it was if nothing makes it fit."""
    access = None if fits(line) else _access(line)
    view = accessed_view(access.node, vocabulary) if access is not None else None
    if view is None:
        return [line]
    taken = set(vocabulary.taken)
    named: list[Line] = []
    short = line
    for kind in ("mask", "value", "pointers"):
        part = _named_part(short, kind)
        if part is None or part.size == 1 or not part.pure:
            continue
        name = vocabulary.fresh(*_wishes(kind, view, vocabulary))
        named.append(Line(line.level, f"{name} = {short.text[part.start : part.end]}", origins=line.origins))
        short = short.rewritten(replaced(short.text, part, name))
        if fits(short):
            return [*reversed(named), short]
    vocabulary.taken = taken
    return [line]


def fits(line: Line) -> bool:
    return len(INDENT) * line.level + len(line.text) <= WIDTH


def _access(line: Line) -> Part | None:
    """The only load or store of a statement."""
    statement = parsed(line.text)
    if statement.kind != "plain":
        return None
    accesses = [part for part in statement.parts if called(part.node) in ("load", "store")]
    return accesses[0] if len(accesses) == 1 else None


def _named_part(line: Line, kind: str) -> Part | None:
    access = _access(line)
    assert access is not None and isinstance(access.node, ast.Call)
    inside = [part for part in parsed(line.text).parts if part.parent is access.node]
    if kind == "mask":
        return next((part for part in inside if part.keyword == "mask"), None)
    positional = [part for part in inside if not part.keyword]
    if kind == "value":
        return positional[1] if called(access.node) == "store" else None
    return positional[0]


def _wishes(kind: str, view: str, vocabulary: Vocabulary) -> Iterator[str]:
    match kind:
        case "mask":
            yield f"{view}_mask"
        case "pointers":
            yield f"{view}_ptrs"
        case _:
            yield view
            yield f"new_{view}"
