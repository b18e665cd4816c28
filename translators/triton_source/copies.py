"""Names that only hand a value on are merged with the name they hand it to.

state = keep * state + x      instead of      new_state = keep * state + x; ...; state = new_state
total = total + tap           instead of      inner = total; for ...: inner = inner + tap; total = inner
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from translators.triton_source.flow import Flow
from translators.triton_source.lines import Line, parsed, renamed, with_bodies


def without_copies(lines: Sequence[Line]) -> list[Line]:
    current = list(lines)
    while (changed := _merge_one(current)) is not None:
        current = changed
    return current


def _merge_one(lines: list[Line]) -> list[Line] | None:
    copies = [(number, *copy) for number, line in enumerate(lines) if (copy := _copy(line)) is not None]
    if not copies:
        return None
    places = _Places(lines)
    for number, target, source in copies:
        if target != source and places.merges_forward(number, target, source):
            return _merged(lines, target, source, {number})
        if target == source or places.merges_backward(number, target, source):
            return _merged(lines, source, target, {number})
    return None


def _copy(line: Line) -> tuple[str, str] | None:
    """(target, source) of `target = source`."""
    statement = parsed(line.text)
    if statement.target is None or statement.value is None or statement.augmented:
        return None
    node = statement.value.node
    return (statement.target, node.id) if isinstance(node, ast.Name) else None


def _merged(lines: Sequence[Line], old: str, new: str, dropped: set[int]) -> list[Line]:
    """The lines with one name for both; a copy between them says nothing any more."""
    merged = [renamed(line, old, new) for number, line in enumerate(lines) if number not in dropped]
    return with_bodies([line for line in merged if _copy(line) != (new, new)])


class _Places:
    """Where names are read and assigned."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.flow = Flow(lines)
        self.reads: dict[str, list[int]] = {}
        self.writes: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            statement = parsed(line.text)
            for name in statement.assigned:
                self.writes.setdefault(name, []).append(number)
            for name in {name for name, _ in statement.reads}:
                self.reads.setdefault(name, []).append(number)

    def merges_backward(self, copy: int, target: str, source: str) -> bool:
        """`source` is computed once, in the copy's block, while `target` is not needed; later they mean the same."""
        writes = self.writes.get(source, [])
        if len(writes) != 1 or self.flow.paths[writes[0]] != self.flow.paths[copy] or writes[0] > copy:
            return False
        made, end = writes[0], self._block_end(copy)
        if parsed(self.flow.lines[made].text).kind != "plain" or self._touches(target, made + 1, copy):
            return False
        reads = self.reads.get(source, [])
        same = all(self._same(target, copy, read) for read in reads if read > copy)
        return target not in parsed(self.flow.lines[made].text).assigned and same and all(made < r < end for r in reads)

    def merges_forward(self, copy: int, target: str, source: str) -> bool:
        """`target` continues `source`, which gets its value back before anything reads it, or is needed no more."""
        end = self._block_end(copy)
        back = min((place for place in self.writes.get(source, ()) if copy < place < end), default=end)
        if back < end and not self._is_copy(back, source, target, copy):
            return False
        inside = all(copy <= place <= back for place in (*self.reads.get(target, ()), *self.writes[target]))
        unread = not any(copy < place < back for place in self.reads[source])
        return inside and unread and (back < end or self._ends_here(copy, source))

    def _is_copy(self, line: int, target: str, source: str, beside: int) -> bool:
        """`target = source` in the block of another line."""
        return _copy(self.flow.lines[line]) == (target, source) and self.flow.paths[line] == self.flow.paths[beside]

    def _ends_here(self, copy: int, name: str) -> bool:
        """Every read of `name` sees the one value that the copy's block made before the copy."""
        version = self.flow.version(name, 2 * copy + 1)
        made = [place for place in self.writes.get(name, ()) if self.flow.made(name, place) == version]
        return (
            [self.flow.paths[place] for place in made] == [self.flow.paths[copy]]
            and all(parsed(self.flow.lines[place].text).kind == "plain" for place in made)
            and all(self.flow.version(name, 2 * read + 1) == version for read in self.reads[name])
        )

    def _block_end(self, line: int) -> int:
        path = self.flow.paths[line]
        return self.flow.end(path[-1]) if path else len(self.flow.lines)

    def _touches(self, name: str, first: int, last: int) -> bool:
        return any(first <= n < last for n in (*self.reads.get(name, ()), *self.writes.get(name, ())))

    def _same(self, name: str, copy: int, read: int) -> bool:
        return self.flow.made(name, copy) == self.flow.version(name, 2 * read + 1)
