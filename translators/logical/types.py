"""Types of the logical program: scalars, ranked tensors, views, buffers and domains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, Symbol

if TYPE_CHECKING:
    from translators.logical.program import Value

Direction = Literal["In", "Out", "InOut"]


@dataclass(frozen=True, slots=True)
class Scalar:
    """One element. Distinct from a rank-zero tensor."""

    dtype: DType

    @property
    def shape(self) -> tuple[Polynomial, ...]:
        return ()

    def __repr__(self) -> str:
        return self.dtype.name


@dataclass(frozen=True, slots=True)
class Tensor:
    """An immutable ranked value. Two extents are equal exactly when their polynomials are."""

    dtype: DType
    shape: tuple[Polynomial, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(repr, self.shape))}]"


Type = Scalar | Tensor


@dataclass(frozen=True, slots=True)
class View:
    """A tensor in the caller's memory: a kernel parameter.

    `shape` holds number or symbol polynomials, in axis order. `strides` (in elements) holds one entry per axis: an
    int, a symbol name, or None for a free stride; None as a whole means that nothing is constrained.
    """

    name: str
    dtype: DType
    shape: tuple[Polynomial, ...]
    direction: Direction
    strides: tuple[int | str | None, ...] | None = None
    alias: str | None = None
    noalias: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def writable(self) -> bool:
        return self.direction != "In"


@dataclass(frozen=True, slots=True, eq=False)
class Buffer:
    """Kernel-local mutable storage (`I.buffer`); one instance per execution of its allocation."""

    name: str
    dtype: DType
    shape: tuple[Polynomial, ...]
    serial: int

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def writable(self) -> bool:
        return True


Memory = View | Buffer


def view_symbols(view: View) -> list[str]:
    """The symbols of a view's shape, axis by axis."""
    return [atom.name for extent in view.shape if isinstance(atom := extent.atom, Symbol)]


def output_symbols(views: Iterable[View]) -> list[str]:
    """Symbols that only outputs have: no argument of a call that allocates them shows their extents."""
    views = list(views)
    known = {symbol for view in views if view.direction != "Out" for symbol in view_symbols(view)}
    return list(dict.fromkeys(symbol for view in views for symbol in view_symbols(view) if symbol not in known))


@dataclass(frozen=True, slots=True)
class Domain:
    """The coordinates begin, begin + step, … below end. Bounds are index scalars of the program.

    `parent` is the domain this one was sliced from: a subregion keeps its source's coordinates.
    `begin_polynomial` and `end_polynomial` are the same bounds as polynomials over symbols and runtime values.
    """

    begin: Value
    end: Value
    step: int
    begin_polynomial: Polynomial
    end_polynomial: Polynomial
    name: str | None = None
    parent: Domain | None = None

    @property
    def extent(self) -> Polynomial:
        """Number of coordinates, given end >= begin (an empty domain may have end < begin: see `Size`)."""
        from translators.algebra.polynomial import ceiling_divide, number

        return ceiling_divide(self.end_polynomial - self.begin_polynomial, number(self.step))
