"""What an expression of the source can denote while it is read.

Runtime values are `program.Value`s (scalars and tensors). Everything else exists only while reading: literals without a
dtype yet, domains, views, buffers, tuples and records, dtype tokens, functions, enum members, keywords of intrinsics.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from intent.dtypes import DType
from intent.records import dataclass
from translators.logical.program import Value
from translators.logical.types import Buffer, Domain, View

if TYPE_CHECKING:
    import ast

    from translators.intent_source.read.scope import ModuleScope


@dataclass(frozen=True, slots=True)
class Literal:
    """A compile-time bool, int or float without a dtype: a literal, a folded module constant or a bound constexpr."""

    value: bool | int | float


@dataclass(frozen=True, slots=True)
class Text:
    """A compile-time string: a symbol name in a shape, a memory order."""

    value: str


@dataclass(frozen=True, slots=True)
class Keyword:
    """`None`, `...`, or a full/partial slice marker's absence."""

    name: str  # "None" or "..."


@dataclass(frozen=True, slots=True)
class Slice:
    """`start:stop:step` inside a subscript, or `slice(...)`; absent parts are None."""

    start: Operand | None
    stop: Operand | None
    step: Operand | None


@dataclass(frozen=True, slots=True)
class Product:
    """A tuple (`names` None) or a record."""

    items: tuple[Operand, ...]
    names: tuple[str, ...] | None = None

    def field(self, name: str) -> Operand | None:
        return self.items[self.names.index(name)] if self.names and name in self.names else None


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """`v.shape`: a static tuple of index scalars, kept apart so that slicing and unpacking keep extents' identity.

    `extents` are index scalar Values whose origin is a `Size`.
    """

    extents: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A dtype (`I.f32`)."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class EnumMember:
    enum: str
    name: str
    value: bool | int | float | str


@dataclass(frozen=True, slots=True)
class EnumClass:
    name: str
    members: Mapping[str, EnumMember]


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """An `@intent.fn` of this or an imported file; only the walker looks inside."""

    name: str
    node: ast.FunctionDef
    scope: ModuleScope  # in which the body's names resolve


@dataclass(frozen=True, slots=True)
class IntrinsicName:
    """`I.exp` or `I.reduce.sum` as a value: `path` follows `I.` (a combine such as I.add may be passed on)."""

    path: str


@dataclass(frozen=True, slots=True)
class Format:
    """A structural token with arguments: I.quant.q8_k, I.e4m3, I.sparse.two_of_four(...)."""

    path: str
    arguments: tuple[tuple[str, Operand], ...] = ()


@dataclass(frozen=True, slots=True)
class Ragged:
    """`I.ragged(outer, members, offsets, indices)`."""

    outer: Domain
    members: Domain
    offsets: Operand
    indices: Operand | None


@dataclass(frozen=True, slots=True)
class RaggedRow:
    """`rows[g]`: usable as a subregion (`domain`) and by I.members."""

    ragged: Ragged
    domain: Domain


Operand = (
    Value | Literal | Text | Keyword | Slice | Product | ShapeOf | Token | EnumMember | EnumClass | Function
    | IntrinsicName | Format | Ragged | RaggedRow | Domain | View | Buffer
)  # fmt: skip
