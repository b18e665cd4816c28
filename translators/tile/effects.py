"""What symbolic execution of a Triton kernel gives: its stores, as scalar expressions over program ids, loops and
lanes.

A tile has disappeared into one scalar expression over *lanes*. In a `StoreEffect` every lane, and every program id,
is an `Axis`; an enclosing loop is still its `LoopToken`, the ordinal of the iteration, counted from 0. Loads are
expressions

    load[Address(pointer, clock)](offset, mask, other)

with a linear offset in elements. The clock counts stores and ends of loops, so that it tells what went before a load.
A loop-carried variable is `carry[(token, ordinal)](lanes...)` within its loop and `carried[(token,
ordinal)](lanes...)` after it, at the lane coordinates that are its arguments; `LoopRecord` says what each carry
begins as and becomes. A masked lane without `other` holds `poison`, which nothing may observe.
"""

from __future__ import annotations

from typing import Literal

from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial
from translators.tile.expression import Axis, Expression, LoopToken

ParameterKind = Literal["pointer", "integer", "float", "bool"]


@dataclass(frozen=True, slots=True)
class Address:
    """Attribute of a load before views are known: the pointer parameter it goes through, and when."""

    pointer: str
    clock: int


@dataclass(frozen=True, slots=True)
class LoopCarry:
    """A variable of a loop, over `lanes`: `initial` in the first iteration, then the previous iteration's `update`.

    `extents` says how many there are of each lane.
    """

    name: str
    dtype: DType
    lanes: tuple[Axis, ...]
    initial: Expression
    update: Expression
    extents: tuple[Polynomial, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """for ordinal in range(trip), with what the iterations carry; `parents` are the loops around it.

    A loop with a `condition` goes on while that holds, which is told from the carries before each iteration; its trip
    is a number that nothing tells. Its loads and stores have a clock in [begin, end).
    """

    token: LoopToken
    trip: Polynomial
    carries: tuple[LoopCarry, ...]
    parents: tuple[LoopToken, ...]
    begin: int
    end: int
    line: int
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class StoreEffect:
    """pointer[offset] = value for every point of `lanes`, every program and every iteration of `loops` where `mask`
    holds.

    `combine` is None for a plain store, else the operation of an atomic whose result nobody uses.
    """

    pointer: str
    offset: Expression
    value: Expression
    mask: Expression
    lanes: tuple[Axis, ...]
    loops: tuple[LoopToken, ...]
    clock: int
    line: int
    combine: str | None = None


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A runtime parameter as it was used. `dtype` is the element's for a pointer; `assumed` if nothing in the file
    says so."""

    name: str
    kind: ParameterKind
    dtype: DType
    assumed: bool


@dataclass(frozen=True, slots=True)
class KernelEffects:
    """One kernel under one binding of its compile-time parameters. `programs` are the axes of the grid that it asks
    for."""

    name: str
    parameters: tuple[KernelParameter, ...]
    programs: tuple[Axis, ...]
    loops: tuple[LoopRecord, ...]
    stores: tuple[StoreEffect, ...]
    remarks: tuple[str, ...]
    line: int
    integer_types: tuple[str, ...] = ()  # compile-time parameters that are types of coordinates
