"""Which assignment a name means at each line, and which lines run whenever another does.

Every assignment starts a new *version* of its name. So does the head of a loop that assigns the name, what follows the
loop, and what follows an `if` with such an assignment: a version stands for one value in one iteration. Two equal pure
expressions whose names have equal versions therefore have equal values.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence, Set

from intent.records import dataclass, field
from translators.triton_source.lines import Line, parsed


@dataclass(slots=True)
class Flow:
    """`paths` gives the headers around each line, outermost first; `owners` the `if` of an `else`.

    Time 2i is the place before line i, 2i + 1 its evaluation, 2i + 2 what comes after it.
    """

    lines: Sequence[Line]
    paths: list[tuple[int, ...]] = field(default_factory=list)
    owners: dict[int, int] = field(default_factory=dict)
    merged: set[int] = field(default_factory=set)  # versions that no assignment of their own made
    _ends: list[int] = field(default_factory=list)
    _times: dict[str, list[int]] = field(default_factory=dict)
    _versions: dict[str, list[int]] = field(default_factory=dict)
    _current: dict[str, int] = field(default_factory=dict)
    _made: dict[tuple[str, int], int] = field(default_factory=dict)
    _last: int = 0

    def __post_init__(self) -> None:
        self._ends = _block_ends(self.lines)
        self.paths = _paths(self.lines)
        self._block(0, len(self.lines))

    def version(self, name: str, time: int) -> int:
        """0 for what is defined outside: parameters, functions."""
        position = bisect_right(self._times.get(name, ()), time)
        return self._versions[name][position - 1] if position else 0

    def made(self, name: str, line: int) -> int:
        """The version that a simple statement gives a name it assigns; -1 for what assigns otherwise."""
        return self._made.get((name, line), -1)

    def end(self, line: int) -> int:
        """The line after the block that a header opens; for any other line, the next one."""
        return self._ends[line]

    def statement(self, line: int, depth: int) -> int:
        """The statement of the block at `depth` that a line is or stands in; an `else` belongs to its `if`."""
        path = self.paths[line]
        found = path[depth] if len(path) > depth else line
        return self.owners.get(found, found)

    # ----------------------------------------------------------------------------------------------------- walking
    def _block(self, first: int, last: int) -> None:
        line = first
        while line < last:
            match parsed(self.lines[line].text).kind:
                case "for" | "while":
                    self._loop(line)
                    line = self._ends[line]
                case "if":
                    line = self._branches(line)
                case _:
                    assigned = parsed(self.lines[line].text).assigned
                    self._start(assigned, 2 * line + 2)
                    for name in assigned:
                        self._made[name, line] = self._current[name]
                    line += 1

    def _loop(self, header: int) -> None:
        """A while's test sees what the loop assigns; a for's range is evaluated once."""
        assigned = self._assigned(header, self._ends[header])
        is_while = parsed(self.lines[header].text).kind == "while"
        self._start(assigned, 2 * header + (1 if is_while else 2), merged=True)
        self._block(header + 1, self._ends[header])
        self._start(assigned, 2 * self._ends[header], merged=True)

    def _branches(self, header: int) -> int:
        """Both arms begin with the versions before the `if`."""
        end = self._ends[header]
        before = dict(self._current)
        self._block(header + 1, end)
        if self._is_else(end, self.lines[header].level):
            self.owners[end] = header
            for name in self._assigned(header, end):
                self._note(name, 2 * end + 1, before.get(name, 0))
            self._block(end + 1, self._ends[end])
            end = self._ends[end]
        self._start(self._assigned(header, end), 2 * end, merged=True)
        return end

    def _is_else(self, line: int, level: int) -> bool:
        return line < len(self.lines) and self.lines[line].level == level and self.lines[line].text == "else:"

    def _assigned(self, first: int, last: int) -> set[str]:
        return {name for line in self.lines[first:last] for name in parsed(line.text).assigned}

    def _start(self, names: Set[str], time: int, merged: bool = False) -> None:
        for name in sorted(names) if len(names) > 1 else names:
            self._last += 1
            if merged:
                self.merged.add(self._last)
            self._note(name, time, self._last)

    def _note(self, name: str, time: int, version: int) -> None:
        self._times.setdefault(name, []).append(time)
        self._versions.setdefault(name, []).append(version)
        self._current[name] = version


def _block_ends(lines: Sequence[Line]) -> list[int]:
    ends = [len(lines)] * len(lines)
    open_lines: list[int] = []
    for position, line in enumerate(lines):
        while open_lines and lines[open_lines[-1]].level >= line.level:
            ends[open_lines.pop()] = position
        open_lines.append(position)
    return ends


def _paths(lines: Sequence[Line]) -> list[tuple[int, ...]]:
    paths: list[tuple[int, ...]] = []
    headers: list[int] = []
    for position, line in enumerate(lines):
        while headers and lines[headers[-1]].level >= line.level:
            headers.pop()
        paths.append(tuple(headers))
        headers.append(position)
    return paths
