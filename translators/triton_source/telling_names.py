"""Names for expressions of a printed device function, read off their form and their use.

The author's name of the value comes first. A pointer is named after its view, a coordinate after the axis whose stride
it is multiplied with, a mask after its use.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count

from intent.records import dataclass, field
from translators.triton_source.lines import Line, Part, called, parsed
from translators.triton_source.names import RESERVED_LOCALS

_ACCESSES = ("load", "store", "atomic_")
_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "total", ast.Sub: "difference", ast.Mult: "product", ast.Div: "quotient", ast.FloorDiv: "quotient",
    ast.Mod: "remainder", ast.LShift: "shifted", ast.RShift: "shifted",
}  # fmt: skip
_FUNCTIONS = {
    "where": "selected", "div_rn": "quotient", "broadcast_to": "spread", "cdiv": "blocks", "_floor_divide": "quotient",
    "_floor_remainder": "remainder",
}  # fmt: skip


@dataclass(slots=True)
class Vocabulary:
    """What is known about the names of one device function.

    `author` are names the author chose; `meanings` maps an expression's text to the author's name of its value;
    `constants` are known when the function is compiled. `pointers` maps a pointer's name to its view, `strides` a
    stride's name to its view and axis. `taken` are names that no new value may have.
    """

    author: frozenset[str] = frozenset()
    meanings: Mapping[str, str] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    pointers: dict[str, str] = field(default_factory=dict)
    strides: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def is_authors(self, name: str) -> bool:
        """A name the author chose, or one that is told apart from it by a number."""
        return name in self.author or re.sub(r"_\d+$", "", name) in self.author

    def fresh(self, *wishes: str) -> str:
        """The first wish that is free, else the last one with a number."""
        numbered = (f"{wishes[-1]}_{number}" for number in count(2))
        name = next(wish for wish in chain(wishes, numbered) if wish not in self.taken and wish not in RESERVED_LOCALS)
        self.taken.add(name)
        return name


def telling_name(lines: Sequence[Line], uses: Sequence[tuple[int, Part]], vocabulary: Vocabulary) -> str:
    """A free name for the expression that stands at all the places `uses`; it is taken from then on."""
    number, part = uses[0]
    text = lines[number].text[part.start : part.end]
    if text in vocabulary.meanings:
        return vocabulary.fresh(vocabulary.meanings[text])
    view = pointed_view(part.node, vocabulary)
    if view is not None:
        name = vocabulary.fresh(*_pointer_wishes(lines, uses, view))
        vocabulary.pointers[name] = view
        return name
    views = [view for number, use in uses if (view := _masked_view(lines[number], use, vocabulary))]
    if views:
        return vocabulary.fresh("mask", f"{views[0]}_mask")
    if _is_condition(part.node):
        return vocabulary.fresh("inside" if any(map(_is_bound, ast.walk(part.node))) else "condition")
    wishes = (_strided_axis(use, vocabulary) or _range_end(use) for _, use in uses)
    return vocabulary.fresh(*(next(filter(None, wishes), ()) or _form_wishes(part.node, part.parent)))


# ------------------------------------------------------------------------------------------------------------- pointers
def pointed_view(node: ast.expr, vocabulary: Vocabulary) -> str | None:
    """The view that a pointer expression points into: `x_ptr + ...`."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        node = node.left
    return vocabulary.pointers.get(node.id) if isinstance(node, ast.Name) else None


def _pointer_wishes(lines: Sequence[Line], uses: Sequence[tuple[int, Part]], view: str) -> Iterator[str]:
    """`x_ptrs` for the lanes of an access, `x_row` for where a row begins."""
    _, part = uses[0]
    if part.names & _tiles(lines) and any(called(use.parent).startswith(_ACCESSES) for _, use in uses):
        yield f"{view}_ptrs"
        return
    coordinate = _last_coordinate(part.node)
    if coordinate:
        yield f"{view}_{coordinate}" if len(coordinate) > 1 else f"{view}_at_{coordinate}"
    yield f"{view}_start"


def _last_coordinate(node: ast.expr) -> str:
    """`row` in `x_ptr + b * stride_x_b + row * stride_x_m`."""
    match node:
        case ast.BinOp(op=ast.Add(), right=ast.BinOp(op=ast.Mult(), left=coordinate)):
            if isinstance(coordinate, ast.Subscript):
                coordinate = coordinate.value
            return coordinate.id if isinstance(coordinate, ast.Name) else ""
        case _:
            return ""


def _tiles(lines: Sequence[Line]) -> set[str]:
    """Names of values with lanes, as far as one reading of the assignments tells."""
    tiles: set[str] = set()
    for line in lines:
        statement = parsed(line.text)
        if "tl.arange(" in line.text or any(part.names & tiles for part in statement.parts):
            tiles |= statement.assigned
    return tiles


# ----------------------------------------------------------------------------------------------------------- conditions
def _is_condition(node: ast.expr) -> bool:
    match node:
        case ast.Compare() | ast.BoolOp():
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr(), left=left, right=right):
            return any(map(_is_condition, (left, right))) or any(map(_is_mask, (left, right)))
        case _:
            return False


def _is_mask(node: ast.expr) -> bool:
    node = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(node, ast.Name) and node.id.endswith("mask")


def _is_bound(node: ast.AST) -> bool:
    """A comparison as bounds checks have: `j >= 0`, `j < N`."""
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.GtE | ast.Lt)


def _masked_view(line: Line, part: Part, vocabulary: Vocabulary) -> str | None:
    """The view whose access a condition is a mask of, or a part of the mask."""
    parts = parsed(line.text).parts
    while part.keyword != "mask":
        outer = next((other for other in parts if other.node is part.parent), None)
        if outer is None or not isinstance(outer.node, ast.BinOp):
            return None
        part = outer
    return accessed_view(part.parent, vocabulary)


def accessed_view(access: ast.AST, vocabulary: Vocabulary) -> str | None:
    """The view that a load or store call touches."""
    match access:
        case ast.Call(args=[pointer, *_]):
            while isinstance(pointer, ast.Call) and pointer.args:  # tl.broadcast_to(pointer, shape)
                pointer = pointer.args[0]
            return pointed_view(pointer, vocabulary)
        case _:
            return None


# --------------------------------------------------------------------------------------------------------------- values
def _strided_axis(part: Part, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Names for a coordinate by the axis whose stride it is multiplied with."""
    match part.parent:
        case ast.BinOp(op=ast.Mult(), left=left, right=ast.Name(id=stride)) if left is part.node:
            if stride in vocabulary.strides:
                view, axis = vocabulary.strides[stride]
                return (f"{view}_index",) if axis.isdigit() else (axis, f"{view}_{axis}")
    return ()


def _range_end(part: Part) -> tuple[str, ...]:
    match part.parent:
        case ast.Call(func=ast.Name(id="range"), args=[begin, _, *_]):
            return ("begin",) if begin is part.node else ("end",)
        case _:
            return ()


_NUMBERS = {0.0: "zero", 1.0: "one", 2.0: "two", 0.5: "half", -1.0: "minus_one"}


def _typed_constant(node: ast.expr) -> str:
    """`zero` for `tl.full((), 0.0, tl.float32).to(tl.bfloat16)`."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(args=[_, value, _]) as full, attr="to")) if (
            called(full) == "full"
        ):
            number = value.value if isinstance(value, ast.Constant) else None
            return _NUMBERS.get(number, "constant") if isinstance(number, int | float) else "constant"
        case _:
            return ""


def _form_wishes(node: ast.expr, parent: ast.AST) -> Iterator[str]:
    if constant := _typed_constant(node):
        yield constant
        return
    match node:
        case ast.BinOp(op=ast.Mult(), left=ast.Name(id=left), right=ast.Name(id=right)) if left == right:
            yield f"{left}_squared"
        case ast.BinOp():
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.FloorDiv | ast.Mod):
                yield "position"
            if called(parent).startswith("_floor_"):
                yield "position"
            yield _OPERATIONS.get(type(node.op), "bits")
        case ast.Call(args=[ast.Name(id=operand), *_]) if called(node) not in _FUNCTIONS:
            yield f"{called(node).strip('_')}_{operand}"
        case ast.Call():
            yield _FUNCTIONS.get(called(node), "value")
        case _:
            yield "value"
