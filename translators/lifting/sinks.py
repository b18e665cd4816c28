"""The form that lifting works on: each store as one scalar expression for every point of its free axes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from intent.records import dataclass, field
from translators.tile.expression import Axis, Expression

Basis = Literal["proven", "host", "assumed"]


@dataclass(frozen=True, slots=True)
class Sink:
    """pointer[offset] = value for every point of `axes` where `mask` holds. No two points share an element."""

    pointer: str
    offset: Expression
    value: Expression
    mask: Expression
    axes: tuple[Axis, ...]
    clock: int
    line: int

    @property
    def roots(self) -> tuple[Expression, Expression, Expression]:
        return (self.offset, self.mask, self.value)


@dataclass(frozen=True, slots=True)
class Note:
    """One entry of the ledger: a step, and what it rests on."""

    basis: Basis
    text: str


@dataclass(slots=True)
class Ledger:
    """What the lifted program rests on, in order, each once."""

    notes: dict[Note, None] = field(default_factory=dict)
    numerics: dict[str, None] = field(default_factory=dict)  # where results differ by rounding

    def add(self, basis: Basis, text: str) -> None:
        self.notes.setdefault(Note(basis, text))

    def __iter__(self) -> Iterator[Note]:
        return iter(self.notes)


class Residue(Exception):
    """A construct that no rule explains: the kernel is not lifted. `line` is where it stands (0 if unknown)."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
