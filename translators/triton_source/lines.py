"""The statements of a device function before they are folded: one `Line` each, and what passes over them ask of a line.

A line is one simple statement, the header of a `for`, `while` or `if`, an `else:`, or a comment of its own; `level` is
its depth in blocks. `parsed` gives a line's subexpressions as ranges of its text, so that a pass edits text and never
prints Python itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from intent.records import dataclass, field, replace
from translators.printing.python_text import ATOM, COMPARISON, CONDITIONAL, grouping, precedence, syntax
from translators.syntax_tree import children, descendants

Origins = frozenset[tuple[str, int]]  # files of the author and lines in them
Kind = Literal["plain", "for", "while", "if", "else", "comment"]

_KINDS: dict[type[ast.stmt], Kind] = {ast.For: "for", ast.While: "while", ast.If: "if"}
# What touches memory, orders it, or draws random bits.
_EFFECTS = ("load", "store", "atomic_", "_atomic", "debug_barrier", "_philox")
_DIVISIONS = frozenset({"cdiv", "_floor_divide", "_floor_remainder"})


@dataclass(frozen=True, slots=True)
class Line:
    """`place` is the author's line that the value comes from, 0 if there is none; `origins` all that it is made of."""

    level: int
    text: str
    comment: str = ""
    place: int = 0
    origins: Origins = frozenset()

    def rewritten(self, text: str) -> Line:
        return replace(self, text=text)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One subexpression of a line: `text[start:end]`, without the brackets that may stand around it.

    `size` counts it as a reader does: a dotted name, a literal and `m[:, None]` are one. `pure` expressions give the
    same value wherever their names do; one that `divides` may divide by zero. `keyword` is the name it is passed by.
    """

    start: int
    end: int
    node: ast.expr
    parent: ast.AST
    keyword: str
    size: int
    names: frozenset[str]
    pure: bool
    divides: bool


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """`target = value` where the statement is that. Operands come before users; `targets` are names and positions.

    `assigned` are the names of the targets, `reads` the parts that are names, and `moves` is whether it touches no
    memory but by plain loads.
    """

    kind: Kind
    targets: tuple[tuple[str, int], ...]
    parts: tuple[Part, ...]
    target: str | None = None
    value: Part | None = None
    augmented: bool = False
    assigned: frozenset[str] = field(init=False)
    reads: tuple[tuple[str, Part], ...] = field(init=False)
    moves: bool = field(init=False)

    def __post_init__(self) -> None:
        reads = tuple([(part.node.id, part) for part in self.parts if isinstance(part.node, ast.Name)])
        moves = all(is_plain_load(part.node) or not has_effect(part.node) for part in self.parts)
        object.__setattr__(self, "assigned", frozenset([name for name, _ in self.targets]))
        object.__setattr__(self, "reads", reads)
        object.__setattr__(self, "moves", moves)


@lru_cache(maxsize=4096)
def parsed(text: str) -> Parsed:
    """The statement of one line. Resident and streamed forms share most of their lines."""
    if text.startswith("#"):
        return Parsed("comment", (), ())
    if text == "else:":
        return Parsed("else", (), ())
    tree = syntax(text)
    parts = tuple(part for child in _evaluated(tree) for part in _parts(child, tree))
    targets = tuple(
        (node.id, node.col_offset)
        for node in descendants(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    match tree:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return Parsed("plain", targets, parts, name, _part_of(parts, value))
        case ast.AugAssign(target=ast.Name(id=name) as target, value=value):
            return Parsed("plain", targets, (*parts, _read(target, tree)), name, _part_of(parts, value), augmented=True)
        case _:
            return Parsed(_KINDS.get(type(tree), "plain"), targets, parts)


def _evaluated(tree: ast.stmt) -> Iterator[ast.expr]:
    """What the line itself evaluates, without the names it assigns."""
    for child in children(tree):
        if isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), ast.Store):
            yield child


def _part_of(parts: Sequence[Part], node: ast.expr) -> Part:
    return next(part for part in parts if part.node is node)


def _read(name: ast.Name, parent: ast.AST) -> Part:
    """The name that an augmented assignment reads."""
    return Part(
        name.col_offset, name.col_offset + len(name.id), name, parent, "", 1, frozenset((name.id,)), True, False
    )


def _parts(node: ast.expr, parent: ast.AST, keyword: str = "") -> list[Part]:
    """All subexpressions, operands first; the last one is the node itself."""
    found: list[Part] = []
    operands: list[Part] = []
    for child, name in _operands(node):
        inside = _parts(child, node, name)
        found += inside
        operands.append(inside[-1])
    names = frozenset((node.id,)) if isinstance(node, ast.Name) else frozenset(n for o in operands for n in o.names)
    pure = all(operand.pure for operand in operands) and not has_effect(node)
    divides = any(operand.divides for operand in operands) or _divides(node)
    end = node.end_col_offset or 0
    own = Part(node.col_offset, end, node, parent, keyword, _size(node, operands), names, pure, divides)
    return [*found, own]


def _operands(node: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """The expressions a node evaluates, with the keyword they are passed by."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            if isinstance(function, ast.Attribute) and not _is_module(function.value):
                yield function.value, ""
            yield from ((argument, "") for argument in arguments)
            yield from ((word.value, word.arg or "") for word in keywords)
        case ast.Attribute(value=value):
            if not _is_module(value):
                yield value, ""
        case ast.Subscript(value=value, slice=index):
            yield value, ""
            if not only_adds_axes(index):
                yield index, ""
        case _:
            for child in children(node):
                if isinstance(child, ast.expr):
                    yield child, ""


def _is_module(node: ast.expr) -> bool:
    """`tl`, or a member of it such as `tl.PropagateNan`."""
    return (isinstance(node, ast.Name) and node.id in ("tl", "libdevice")) or isinstance(node, ast.Attribute)


def only_adds_axes(index: ast.expr) -> bool:
    """`[:, None]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None) for part in parts)


def _size(node: ast.expr, operands: Sequence[Part]) -> int:
    match node:
        case ast.Name() | ast.Constant() | ast.Attribute(value=ast.Name()) | ast.Call(func=ast.Name(id="float")):
            return 1
        case ast.Attribute(value=ast.Attribute()):
            return 2
        case ast.UnaryOp(operand=operand) if operands[0].size == 1 and not isinstance(operand, ast.Name):
            return 1
        case ast.Subscript(value=ast.Name(), slice=index) if only_adds_axes(index):
            return 1
        case _:
            return 1 + sum(operand.size for operand in operands)


def called(node: ast.AST) -> str:
    """The name of the function or method that a node calls, or nothing."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
        case _:
            return ""


def is_accumulator(line: Line) -> bool:
    """A tile of one constant gets a name."""
    value = parsed(line.text).value
    return value is not None and called(value.node) in ("zeros", "full")


def is_plain_load(node: ast.AST) -> bool:
    """A load that nobody else waits for: without a use it may go, and it may move where no store comes between."""
    if called(node) != "load" or not isinstance(node, ast.Call):
        return False
    return not any(word.arg == "volatile" for word in node.keywords)


def has_effect(node: ast.expr) -> bool:
    """What has to stay where it is, and happen as often."""
    return called(node).startswith(_EFFECTS)


def _divides(node: ast.expr) -> bool:
    """An integer division whose divisor is not a literal."""
    match node:
        case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=right):
            return not isinstance(right, ast.Constant)
        case ast.Call(args=[*_, divisor]):
            return called(node) in _DIVISIONS and not isinstance(divisor, ast.Constant)
        case _:
            return False


# -------------------------------------------------------------------------------------------------------------- editing
def required(part: Part) -> int:
    """The precedence from which an expression may stand at a part's place without brackets."""
    match part.parent:
        case ast.BinOp(right=right):
            return precedence(part.parent) + (right is part.node)
        case ast.Compare():
            return COMPARISON + 1
        case ast.UnaryOp():
            return precedence(part.parent) + 1  # `--x` looks like a decrement
        case ast.BoolOp():
            return precedence(part.parent)
        case ast.Attribute() | ast.Subscript():
            return ATOM
        case ast.Call(func=ast.Attribute(value=receiver)) if receiver is part.node:
            return ATOM
        case _:
            return CONDITIONAL


def with_brackets(text: str, part: Part) -> tuple[int, int]:
    """The range of a part and of the brackets around it that do nothing but group it."""
    return (part.start - 1, part.end + 1) if grouping(text, part.node) else (part.start, part.end)


def replaced(text: str, part: Part, new: str) -> str:
    """The line's text with `new`, a name or a bracketed expression, at the place of a part."""
    start, end = with_brackets(text, part)
    return text[:start] + new + text[end:]


def renamed(line: Line, old: str, new: str) -> Line:
    """The line with another name for a variable, wherever it is read or assigned."""
    statement = parsed(line.text)
    positions = {start for name, start in statement.targets if name == old}
    positions |= {part.start for name, part in statement.reads if name == old}
    text = line.text
    for start in sorted(positions, reverse=True):
        text = text[:start] + new + text[start + len(old) :]
    return line.rewritten(text)


def with_bodies(lines: Sequence[Line]) -> list[Line]:
    """The lines, with `pass` in blocks that lost their last statement."""
    filled: list[Line] = []
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        filled.append(line)
        opens = line.text.endswith(":") and not line.text.startswith("#")
        if opens and (following is None or following.level <= line.level):
            filled.append(Line(line.level + 1, "pass"))
    return filled
