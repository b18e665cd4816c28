"""Loops side by side, and what follows them, use the same names for the same things.

A name that was numbered because an earlier loop has it already loses its number where the two never meet: each is
assigned and read within the body of its own loop, neither inside the other, or one of them only after the loop of the
other. (In a loop after it, or around it, Triton would take the name for a variable that the loop carries.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from translators.triton_source.flow import Flow
from translators.triton_source.lines import Line, parsed, renamed

_NUMBERED = re.compile(r"(.+)_(\d+)")


def with_names_reused(lines: Sequence[Line]) -> list[Line]:
    current, flow = list(lines), None
    for name in sorted({name for line in lines for name in parsed(line.text).assigned}):
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None:
            continue
        flow = flow or Flow(current)
        if _apart(flow, numbered.group(1), name):
            current, flow = [renamed(line, name, numbered.group(1)) for line in current], None
    return current


def with_blanks_apart(lines: Sequence[Line]) -> list[Line]:
    """Results that nothing reads are all called `_`, unless branches or loops would want one type of them."""
    blank = [number for number, line in enumerate(lines) if "_" in parsed(line.text).assigned]
    results = [number for number in blank if parsed(lines[number].text).kind == "plain"]
    changed = list(lines)
    if len(blank) > 1 and any(lines[number].level > 1 for number in results):
        for count, number in enumerate(results, 1):
            changed[number] = renamed(lines[number], "_", f"_{count}")
    return changed


def _apart(flow: Flow, name: str, numbered: str) -> bool:
    first, second = _block(flow, name), _block(flow, numbered)
    if first is None or second is None or first == ():
        return False
    if second == ():
        return min(_assignments(flow, numbered)) >= max(flow.end(first[0]), *(n + 1 for n in _assignments(flow, name)))
    return first != second[: len(first)] and second != first[: len(second)]


def _block(flow: Flow, name: str) -> tuple[int, ...] | None:
    """The path to the loop in whose body all that assigns and reads the name stands, each read after its assignment.

    () if that is not within a loop or `if`; None if there is no such place.
    """
    assignments = list(_assignments(flow, name))
    path = min((flow.paths[number] for number in assignments), key=len, default=None)
    if path is None or (path and parsed(flow.lines[path[-1]].text).kind not in ("for", "while")):
        return None
    reads = list(_reads(flow, name))
    inside = all(flow.paths[number][: len(path)] == path for number in (*assignments, *reads))
    plain = not any(flow.version(name, 2 * number + 1) in flow.merged | {0} for number in reads)
    return path if inside and plain else None


def _assignments(flow: Flow, name: str) -> Iterator[int]:
    return (number for number, line in enumerate(flow.lines) if name in parsed(line.text).assigned)


def _reads(flow: Flow, name: str) -> Iterator[int]:
    for number, line in enumerate(flow.lines):
        if any(read == name for read, _ in parsed(line.text).reads):
            yield number
