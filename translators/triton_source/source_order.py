"""Assignments in the order in which the author wrote what they compute, loads first.

Only runs of assignments between stores, barriers and loops are put in order. A line goes where the author's line is;
what it needs comes before it, and a line that stands for none of the author's (a pointer, a mask) comes just before its
first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from intent.records import dataclass, field
from translators.triton_source.lines import Line, is_plain_load, parsed


def in_source_order(lines: Sequence[Line]) -> list[Line]:
    ordered: list[Line] = []
    run: list[Line] = []
    for line in lines:
        if run and (line.level != run[0].level or not _may_move(line)):
            ordered += _Run(run).ordered()
            run = []
        if _may_move(line) and (run or line.place):
            run.append(line)
        else:
            ordered.append(line)
    return ordered + _Run(run).ordered()


def _may_move(line: Line) -> bool:
    """An assignment that touches no memory but by plain loads."""
    statement = parsed(line.text)
    return statement.kind == "plain" and bool(statement.targets) and statement.moves


@dataclass(slots=True)
class _Run:
    """`needs` are the lines that come before each line; `late` lines are no loads, or wait for what is none."""

    lines: Sequence[Line]
    needs: list[set[int]] = field(default_factory=list)
    late: list[bool] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def ordered(self) -> list[Line]:
        self.needs = list(_needs(self.lines))
        for number, line in enumerate(self.lines):
            loads = any(is_plain_load(part.node) for part in parsed(line.text).parts)
            waits = any(self.late[need] for need in self.needs[number])
            self.late.append(waits or (line.place > 0 and not loads))
            self.places.append(max([line.place, *(self.places[need] for need in self.needs[number])]))
        placed = [number for number, line in enumerate(self.lines) if line.place > 0]
        placed.sort(key=lambda number: (self.late[number], self.places[number], number))
        done: dict[int, None] = {}
        for number in (*placed, *range(len(self.lines))):
            self._finish(number, done)
        return [self.lines[number] for number in done]

    def _finish(self, number: int, done: dict[int, None]) -> None:
        """Add a line, after what it needs."""
        stack = [number]
        while stack:
            waiting = [need for need in sorted(self.needs[stack[-1]], reverse=True) if need not in done]
            if waiting:
                stack += waiting
            else:
                done.setdefault(stack.pop())


def _needs(lines: Sequence[Line]) -> Iterator[set[int]]:
    """For every line, the earlier ones that assign what it reads or assigns, or read what it assigns."""
    assigned: dict[str, int] = {}
    read: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        statement = parsed(line.text)
        names = {name for name, _ in statement.reads}
        before = {assigned[name] for name in names | statement.assigned if name in assigned}
        yield before | {reader for name in statement.assigned for reader in read.pop(name, ())}
        for name in names:
            read.setdefault(name, []).append(number)
        assigned |= dict.fromkeys(statement.assigned, number)
