"""What a name of a Triton kernel can stand for while it is executed symbolically.

Compile-time values are Python's own: int, float, bool, str, None, tuples, and `Polynomial` for an integer that is
known only by name (a block size, or what is computed from one). Run-time values are tiles; a scalar is a tile without
dimensions.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from intent.dtypes import DType, i64
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial
from translators.tile.expression import Axis, Expression

if TYPE_CHECKING:
    from translators.triton_source.read.source import TritonFile

Shape = tuple[Polynomial, ...]


class NotLifted(Exception):
    """Reading cannot give this construct a meaning; `line` is where it stands (0 if unknown)."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class NeedsValue(NotLifted):
    """The meaning of the kernel depends on compile-time parameters by value: a truth, a `number`, or a type."""

    def __init__(
        self, reason: str, names: tuple[str, ...], line: int = 0, number: bool = False, of_type: bool = False
    ) -> None:
        super().__init__(reason, line)
        self.names = names
        self.number = number
        self.of_type = of_type


class HoldsType(NotLifted):
    """What is done with the elements of a pointer asks for another type than they were taken to have."""

    def __init__(self, pointer: str, dtype: DType, reason: str) -> None:
        super().__init__(reason)
        self.pointer = pointer
        self.dtype = dtype


class HoldsIntegers(HoldsType):
    """The elements of a pointer are used as coordinates: they are integers."""

    def __init__(self, pointer: str) -> None:
        super().__init__(pointer, i64, f"the elements of '{pointer}' are used as coordinates, and are no integers")


@dataclass(frozen=True, slots=True)
class Tile:
    """A number for each of `shape`'s lanes. Lane i occurs in `value` as the reading's axis i; integers may be
    polynomials."""

    dtype: DType
    shape: Shape
    value: Expression


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address for each lane: a parameter and an offset in elements."""

    parameter: str
    element: DType
    shape: Shape
    offset: Polynomial


@dataclass(frozen=True, slots=True)
class PointerType:
    element: DType


@dataclass(frozen=True, slots=True)
class Builtin:
    """Something of Triton's or Python's own, by its dotted name: `tl.load`, `libdevice.exp`, `range`."""

    name: str


@dataclass(frozen=True, slots=True)
class Method:
    """A builtin method of a value, as in `x.to(...)`."""

    receiver: Value
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A device function: an entry kernel or a callee. Its names are those of its `file`."""

    name: str
    node: ast.FunctionDef
    decorators: tuple[ast.expr, ...]
    file: TritonFile


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """Another file of the package, by name."""

    file: TritonFile


@dataclass(frozen=True, slots=True)
class Undefined:
    """No value: a name that a file does not define."""


UNDEFINED: Final = Undefined()


@dataclass(frozen=True, slots=True)
class BlockPointer:
    """A tensor in memory and a window on it, one polynomial per dimension. A descriptor checks all its boundaries."""

    base: Pointer
    shape: Shape
    strides: Shape
    offsets: Shape
    block: Shape
    descriptor: bool = False


Value = (
    Tile | Pointer | BlockPointer | PointerType | Builtin | Method | Function | Module | DType | Polynomial | int
    | float | str | None | tuple["Value", ...]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lanes:
    """The positional lane axes: dimension i of a tile is axis i wherever it is used."""

    axes: tuple[Axis, ...]

    def __getitem__(self, dimension: int) -> Axis:
        return self.axes[dimension]
