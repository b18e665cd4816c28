"""Names that are used once, and say nothing that the author said, give way to what they stand for.

    mask=columns < N          instead of      columns_mask = columns < N; ...; mask=columns_mask
    total += tl.load(...)     instead of      x = tl.load(...); total += x

A pure value moves to its use if that is in the same block, where its names still mean the same. A load moves only into
the next statement, so that no store comes between. Statements stay on one line and expressions small.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set

from intent.records import dataclass, replace
from translators.printing.layout import INDENT, WIDTH
from translators.printing.python_text import ATOM, precedence
from translators.triton_source.flow import Flow
from translators.triton_source.lines import (
    Line,
    Part,
    called,
    is_plain_load,
    parsed,
    replaced,
    required,
)
from translators.triton_source.telling_names import Vocabulary

LARGEST = 16  # parts of a statement that a value may move into
_REDUCTIONS = ("reduce", "sum", "max", "min", "cumsum", "associative_scan", "argmax", "argmin")


@dataclass(frozen=True, slots=True)
class _Use:
    line: int
    part: Part


def without_single_uses(lines: Sequence[Line], vocabulary: Vocabulary) -> list[Line]:
    """The lines with what is used once moved to its use, and what is not used at all left out."""
    uses, first = _Uses(list(lines)), 0
    while first < len(uses.lines):
        if not _without(uses, first, vocabulary):
            first += 1
        elif uses.current:
            first = max(uses.beside(first, -1), 0)
        else:
            first, uses = max(uses.position(first) - 1, 0), _Uses(uses.left())
    return _without_loop_variables(uses)


def _without_loop_variables(uses: _Uses) -> list[Line]:
    """`for _ in ...` where the body does not read the variable."""
    lines = uses.left()
    for number, line in enumerate(lines):
        statement = parsed(line.text)
        if statement.kind == "for" and not any(uses.reads.get(name) for name in statement.assigned):
            ((name, start),) = statement.targets
            lines[number] = line.rewritten(line.text[:start] + "_" + line.text[start + len(name) :])
    return lines


class _Uses:
    """The lines and where they read each name.

    Lines keep their numbers when others go. What is known of their names stays true, too, unless the name that went
    with a line is assigned or read elsewhere: then this is not `current` any more.
    """

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.flow = Flow(lines)
        self.current = True
        self.reads: dict[str, list[_Use]] = {}
        self._gone = [False] * len(lines)
        self._written: dict[str, int] = {}
        for number, line in enumerate(lines):
            self._read(number)
            for name in parsed(line.text).assigned:
                self._written[name] = self._written.get(name, 0) + 1

    def _read(self, number: int) -> None:
        for name, part in parsed(self.lines[number].text).reads:
            self.reads.setdefault(name, []).append(_Use(number, part))

    def _forget(self, number: int) -> None:
        for name, _ in parsed(self.lines[number].text).reads:
            self.reads[name] = [use for use in self.reads[name] if use.line != number]

    def is_gone(self, number: int) -> bool:
        return self._gone[number]

    def left(self) -> list[Line]:
        return [line for line, gone in zip(self.lines, self._gone, strict=True) if not gone]

    def position(self, number: int) -> int:
        """How many lines are left before one."""
        return number - sum(self._gone[:number])

    def beside(self, number: int, step: int) -> int:
        """The line before or after another, of those that are left; -1 or their count if there is none."""
        number += step
        while 0 <= number < len(self.lines) and self._gone[number]:
            number += step
        return number

    def rewrite(self, number: int, line: Line) -> None:
        self._forget(number)
        self.lines[number] = line
        self._read(number)

    def remove(self, number: int, name: str) -> None:
        """Without the line that assigns the name; a block that it was all of has a `pass` instead."""
        self._forget(number)
        level, after = self.lines[number].level, self.beside(number, 1)
        ends = after == len(self.lines) or self.lines[after].level < level
        if ends and level > 0 and self.lines[self.beside(number, -1)].level < level:
            self.lines[number] = Line(level, "pass")
        else:
            self._gone[number] = True
        self.current = self._written[name] == 1 and not self.reads.get(name)

    def of(self, name: str, number: int) -> list[_Use] | None:
        """What reads the value assigned in a line; None if that cannot be told apart from other values of the name."""
        version = self.flow.made(name, number)
        seen = [(use, self.flow.version(name, 2 * use.line + 1)) for use in self.reads.get(name, ())]
        if any(each in self.flow.merged for _, each in seen):
            return None
        return [use for use, each in seen if each == version]


def _without(uses: _Uses, number: int, vocabulary: Vocabulary) -> bool:
    """Whether the assignment in a line could go, and went."""
    lines, statement = uses.lines, parsed(uses.lines[number].text)
    name, value = statement.target, statement.value
    if name is None or value is None or statement.augmented or uses.is_gone(number):
        return False
    found = uses.of(name, number)
    if found == [] and (value.pure or is_plain_load(value.node)):
        uses.remove(number, name)
        return True
    if vocabulary.is_authors(name) or found is None or len(found) != 1 or not _may_move(uses, number, found[0]):
        return False
    use = found[0]
    outside = {each for each in value.names if uses.flow.version(each, 2 * number + 1) == 0}
    moved = _moved(lines[number], value, lines[use.line], use.part, outside)
    if moved is None:
        return False
    uses.rewrite(use.line, moved)
    uses.remove(number, name)
    return True


def _may_move(uses: _Uses, number: int, use: _Use) -> bool:
    """The value is the same at its use, and is computed as often."""
    flow = uses.flow
    value, kind = parsed(flow.lines[number].text).value, parsed(flow.lines[use.line].text).kind
    if value is None or flow.paths[number] != flow.paths[use.line] or kind == "while" or use.line < number:
        return False
    if isinstance(use.part.parent, ast.AugAssign) and use.part.parent.target is use.part.node:
        return False
    if any(flow.version(name, 2 * number + 1) != flow.version(name, 2 * use.line + 1) for name in value.names):
        return False
    if called(value.node).startswith(_REDUCTIONS):
        return called(use.part.parent) == "store"
    return value.pure or (
        _is_load(value) and use.line == uses.beside(number, 1) and _takes_load(flow.lines[use.line], use.part)
    )


def _is_load(value: Part) -> bool:
    """A load, or one that is converted, whose operands are pure."""
    node = value.node
    if called(node) == "to" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return is_plain_load(node)


def _takes_load(line: Line, part: Part) -> bool:
    """A statement reads well with a load as its value, as one side of its only operator, or before a conversion."""
    value = parsed(line.text).value
    if value is None or part is value:
        return value is not None
    if part.parent is not value.node:
        return False
    return isinstance(value.node, ast.BinOp | ast.UnaryOp) or (called(value.node) == "to" and not part.keyword)


def _moved(source: Line, value: Part, line: Line, part: Part, outside: Set[str]) -> Line | None:
    """The line with the value at the place of the part, if it is still a line to read at a glance.

    `outside` are the names in the value that are the function's parameters, or functions.
    """
    text = source.text[value.start : value.end]
    if isinstance(part.parent, ast.Subscript):
        indexed = _indexed(value, text, line, part, outside)
        if indexed is None:
            return None
        text, part = indexed
    if precedence(value.node) < required(part):
        text = f"({text})"
    comment, origins = line.comment or source.comment, line.origins | source.origins
    new = replace(line, text=replaced(line.text, part, text), comment=comment, origins=origins)
    statement = parsed(new.text)
    fits = len(INDENT) * new.level + len(new.text) <= WIDTH
    small = max((each.size for each in statement.parts if called(each.node) != "store"), default=0) <= LARGEST
    return new if fits and small else None


def _indexed(value: Part, text: str, line: Line, part: Part, outside: Set[str]) -> tuple[str, Part] | None:
    """`columns[:, None] < N` for `mask[:, None]`, where mask is `columns < N` with a scalar N."""
    node = value.node
    outer = next(each for each in parsed(line.text).parts if each.node is part.parent)
    if not (isinstance(node, ast.Compare) and isinstance(node.left, ast.Name)):
        return None
    scalars = all(_is_scalar(each, outside) for each in node.comparators)
    if precedence(node) >= ATOM or not scalars:
        return None
    index = line.text[part.end : outer.end]
    return f"{node.left.id}{index}{text[len(node.left.id) :]}", outer


def _is_scalar(node: ast.expr, outside: Set[str]) -> bool:
    """Numbers and parameters, and arithmetic on them; what the function has made itself may be a tile."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in outside
        case ast.BinOp(left=left, right=right):
            return _is_scalar(left, outside) and _is_scalar(right, outside)
        case ast.UnaryOp(operand=operand):
            return _is_scalar(operand, outside)
        case _:
            return False
