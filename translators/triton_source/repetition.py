"""Expressions that a device function would write twice get a name.

A repeated expression of more than three parts, or a mask of two, is assigned once, in the innermost block around all
its uses, where every name in it means what it means at each use (`flow`). It is computed early only where a use follows
anyway or every use stands in a loop; nothing moves out of one arm of an `if`. Loads, stores, atomics, barriers and
random bits stay where they are, and so does what contains them.

An expression over the lanes of one axis may stand in a tile of two, where all its names have the same `[:, None]`:
then it is the same expression, and the index goes to its name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from intent.records import dataclass
from translators.triton_source.flow import Flow
from translators.triton_source.lines import Line, Part, called, is_accumulator, only_adds_axes, parsed, replaced
from translators.triton_source.telling_names import Vocabulary, telling_name

LARGEST_REPEATED = 3  # parts of an expression that is as easily read twice as once
_SMALLEST_MASK = 3
# Each of these makes something of its own: written twice, it is no repetition.
_FRESH = frozenset({"zeros", "full", "program_id", "range"})


@dataclass(frozen=True, slots=True, eq=False)
class Occurrence:
    """`text` is the expression without the `index` that its names have here."""

    line: int
    part: Part
    path: tuple[int, ...]
    text: str
    index: str = ""


# An expression worth a name, the names in it, its text without an index that they have, and the index.
_Candidate = tuple[Part, list[str], str, str]


def without_repetition(lines: Sequence[Line], vocabulary: Vocabulary) -> list[Line]:
    """The lines with repeated expressions named, the largest first: it may take smaller ones along."""
    current = list(lines)
    while (changed := _name_largest(current, vocabulary)) is not None:
        current = changed
    return current


def _name_largest(lines: list[Line], vocabulary: Vocabulary) -> list[Line] | None:
    flow = Flow(lines)
    repeated = [group for group in _groups(lines, flow, vocabulary) if len(group) > 1]
    for group in sorted(repeated, key=lambda group: -group[0].part.size):
        for first, members in _placements(group, flow):
            return _named(lines, flow, first, members, vocabulary)
    return None


@lru_cache(maxsize=4096)
def _candidates(text: str, constants: frozenset[str]) -> list[_Candidate]:
    """Those of one line; the functions of a module share most of theirs."""
    worthy = [part for part in parsed(text).parts if _worth_a_name(part, constants)]
    return [(part, sorted(part.names), *_without_index(text, part)) for part in worthy]


def _groups(lines: Sequence[Line], flow: Flow, vocabulary: Vocabulary) -> Iterator[list[Occurrence]]:
    """Occurrences of one expression with one value, in order."""
    groups: dict[tuple[str, tuple[int, ...]], list[Occurrence]] = {}
    for number, line in enumerate(lines):
        for part, names, plain, index in _candidates(line.text, vocabulary.constants):
            versions = tuple([flow.version(name, 2 * number + 1) for name in names])
            found = Occurrence(number, part, flow.paths[number], plain, index)
            groups.setdefault((plain, versions), []).append(found)
    for group in groups.values():
        yield from _comparable(lines, group)


def _comparable(lines: Sequence[Line], group: Sequence[Occurrence]) -> Iterator[list[Occurrence]]:
    """All together if the expression also stands without an index, else those of each index as they stand."""
    if any(not occurrence.index for occurrence in group):
        yield list(group)
        return
    groups: dict[str, list[Occurrence]] = {}
    for each in group:
        whole = lines[each.line].text[each.part.start : each.part.end]
        groups.setdefault(each.index, []).append(Occurrence(each.line, each.part, each.path, whole))
    yield from groups.values()


def _without_index(line: str, part: Part) -> tuple[str, str]:
    """The expression without the index that all indexed names in it have, and that index."""
    text = line[part.start : part.end]
    inside = (each for each in parsed(line).parts if part.start <= each.start and each.end <= part.end)
    indexed = [each.node for each in inside if isinstance(each.node, ast.Subscript)]
    indices = {line[each.value.end_col_offset : each.end_col_offset] for each in indexed}
    names = all(isinstance(each.value, ast.Name) and only_adds_axes(each.slice) for each in indexed)
    if len(indices) != 1 or not names:
        return text, ""
    (index,) = indices
    return text.replace(index, ""), index


def _worth_a_name(part: Part, constants: frozenset[str]) -> bool:
    if not part.pure or called(part.node) in _FRESH or (part.names and part.names <= constants):
        return False
    match part.node:
        case ast.Tuple() | ast.List() | ast.Slice() | ast.Attribute():
            return False
        case ast.Subscript(value=ast.BinOp(), slice=index) if only_adds_axes(index):
            return False  # what is indexed gets the name
        case ast.BinOp(op=ast.BitAnd()):
            return part.size >= _SMALLEST_MASK
        case _:
            return part.size > LARGEST_REPEATED


# ------------------------------------------------------------------------------------------------------------ placement
def _placements(group: Sequence[Occurrence], flow: Flow) -> Iterator[tuple[int, list[Occurrence]]]:
    """(line before which the name is assigned, the occurrences it serves)."""
    depth = _common_depth([occurrence.path for occurrence in group])
    first = min(flow.statement(occurrence.line, depth) for occurrence in group)
    if _may_stand_before(first, depth, group, flow):
        yield first, list(group)
        return
    parts: dict[int, list[Occurrence]] = {}
    for occurrence in group:
        inside = occurrence.path[depth] if len(occurrence.path) > depth else occurrence.line
        parts.setdefault(inside, []).append(occurrence)
    for members in parts.values():
        if 1 < len(members) < len(group):
            yield from _placements(members, flow)


def _common_depth(paths: Sequence[tuple[int, ...]]) -> int:
    shortest = min(map(len, paths))
    return next((d for d in range(shortest) if len({path[d] for path in paths}) > 1), shortest)


def _may_stand_before(first: int, depth: int, group: Sequence[Occurrence], flow: Flow) -> bool:
    occurrence = group[0]
    if any(
        flow.version(name, 2 * first) != flow.version(name, 2 * occurrence.line + 1) for name in occurrence.part.names
    ):
        return False
    if any(len(occurrence.path) == depth for occurrence in group):
        return True  # evaluated whenever the block runs
    headers = {parsed(flow.lines[flow.statement(occurrence.line, depth)].text).kind for occurrence in group}
    return headers <= {"for", "while"} and not occurrence.part.divides


# -------------------------------------------------------------------------------------------------------------- naming
def _named(
    lines: list[Line], flow: Flow, first: int, members: Sequence[Occurrence], vocabulary: Vocabulary
) -> list[Line]:
    given = _given_name(lines, flow, first, members)
    if given is not None:
        return _substituted(lines, members[1:], given)
    plain_first = sorted(members, key=lambda member: member.index)
    name = telling_name(lines, [(member.line, member.part) for member in plain_first], vocabulary)
    changed = _substituted(lines, members, name)
    place = _above_accumulators(lines, first, members[0].part)
    origins = frozenset().union(*(lines[member.line].origins for member in members))
    made = Line(lines[first].level, f"{name} = {members[0].text}", origins=origins)
    return [*changed[:place], made, *changed[place:]]


def _above_accumulators(lines: Sequence[Line], first: int, part: Part) -> int:
    """Accumulators stay directly above their loop."""
    if parsed(lines[first].text).kind not in ("for", "while"):
        return first
    while first > 0 and is_accumulator(lines[first - 1]) and not part.names & parsed(lines[first - 1].text).assigned:
        first -= 1
    return first


def _given_name(lines: Sequence[Line], flow: Flow, first: int, members: Sequence[Occurrence]) -> str | None:
    """The name that the first occurrence is assigned to, if the name keeps that value up to the last one."""
    statement = parsed(lines[first].text)
    name = statement.target
    if name is None or statement.augmented or members[0].line != first or members[0].part is not statement.value:
        return None
    if members[0].index:
        return None
    version = flow.made(name, first)
    kept = all(flow.version(name, 2 * member.line + 1) == version for member in members[1:])
    return name if kept and version not in flow.merged else None


def _substituted(lines: Sequence[Line], members: Sequence[Occurrence], name: str) -> list[Line]:
    changed = list(lines)
    for member in sorted(members, key=lambda member: (member.line, -member.part.start)):
        line = changed[member.line]
        changed[member.line] = line.rewritten(replaced(line.text, member.part, name + member.index))
    return changed
