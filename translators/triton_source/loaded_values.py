"""A loaded value that every use converts to one type is converted where it is loaded.

x = tl.load(...).to(tl.float32)      instead of      x = tl.load(...); ...; x.to(tl.float32) * x.to(tl.float32)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from intent.records import dataclass
from translators.triton_source.flow import Flow
from translators.triton_source.lines import Line, Part, called, only_adds_axes, parsed, replaced


@dataclass(frozen=True, slots=True)
class _Conversion:
    """`whole` is `x.to(type)` or `x[:, None].to(type)` in a line, `plain` its text without the conversion."""

    line: int
    whole: Part
    plain: str
    suffix: str


def converted_at_load(lines: Sequence[Line]) -> list[Line]:
    current = list(lines)
    flow = Flow(current)
    for number, line in enumerate(lines):
        statement = parsed(line.text)
        if statement.target is None or statement.value is None or called(statement.value.node) != "load":
            continue
        conversions = _conversions(flow, number, statement.target)
        if conversions is not None:
            current = _converted(current, number, conversions)
            flow = Flow(current)
    return current


def _conversions(flow: Flow, number: int, name: str) -> list[_Conversion] | None:
    """The conversions of a loaded value, if all that read it convert it, and to one type."""
    version = flow.made(name, number)
    found: list[_Conversion] = []
    for use, line in enumerate(flow.lines):
        for part in _reads(line, name):
            seen = flow.version(name, 2 * use + 1)
            conversion = _conversion(use, line, part)
            if seen in flow.merged or (seen == version and conversion is None):
                return None
            if seen == version and conversion is not None:
                found.append(conversion)
    return found if len({conversion.suffix for conversion in found}) == 1 else None


def _converted(lines: list[Line], number: int, conversions: Sequence[_Conversion]) -> list[Line]:
    changed = list(lines)
    for each in sorted(conversions, key=lambda each: (each.line, -each.whole.start)):
        line = changed[each.line]
        changed[each.line] = line.rewritten(replaced(line.text, each.whole, each.plain))
    load = changed[number]
    changed[number] = load.rewritten(load.text + conversions[0].suffix)
    return changed


def _reads(line: Line, name: str) -> list[Part]:
    return [part for read, part in parsed(line.text).reads if read == name]


def _conversion(number: int, line: Line, part: Part) -> _Conversion | None:
    """The conversion around a name; a bit reinterpretation is none."""
    parts = parsed(line.text).parts
    if isinstance(part.parent, ast.Subscript) and only_adds_axes(part.parent.slice):
        part = next(outer for outer in parts if outer.node is part.parent)
    match part.parent:
        case ast.Call(func=ast.Attribute(value=receiver, attr="to"), keywords=[]) if receiver is part.node:
            whole = next(outer for outer in parts if outer.node is part.parent)
            return _Conversion(number, whole, line.text[part.start : part.end], line.text[part.end : whole.end])
        case _:
            return None
