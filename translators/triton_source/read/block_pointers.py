"""Block pointers and tensor descriptors: a tensor in memory, and a window on it that moves.

They become the addresses and the masks that they stand for. Lanes beyond a boundary that is checked read as 0, which
is what the hardware gives also where the code asks for no padding; that is recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from intent import dtypes as d
from intent.records import replace
from translators.algebra.polynomial import Polynomial, Symbol, atomic, number
from translators.tile.expression import Expression
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.operations import ONE
from translators.triton_source.read.values import BlockPointer, NeedsValue, NotLifted, Pointer, Tile, Value

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]
UNPADDED: Final = "lanes of a block pointer that are out of bounds, where no padding is asked for, are taken for 0"


def make_block_pointer(execution: Execution, given: Arguments) -> Value:
    base, block = given["base"], given["block_shape"]
    if not isinstance(base, Pointer) or base.shape:
        raise NotLifted("a block pointer whose base is no pointer to a parameter's elements")
    shape, strides, offsets = (_integers(execution, given[name]) for name in ("shape", "strides", "offsets"))
    return BlockPointer(base, shape, strides, offsets, _extents(block, len(shape)))


def make_descriptor(execution: Execution, given: Arguments) -> Value:
    shape = given["shape"]
    zeros = (0,) * (len(shape) if isinstance(shape, tuple) else 0)
    made = make_block_pointer(execution, {**given, "offsets": zeros})
    assert isinstance(made, BlockPointer)
    return replace(made, descriptor=True)


def _integers(execution: Execution, value: Value) -> tuple[Polynomial, ...]:
    if not isinstance(value, tuple):
        raise NotLifted("the shape of a block pointer")
    return tuple(execution.operations.offset(execution.scalar(each)) for each in value)


def _extents(value: Value, rank: int) -> tuple[Polynomial, ...]:
    if not isinstance(value, tuple) or len(value) != rank:
        raise NotLifted("the block of a block pointer")
    made: list[Polynomial] = []
    for each in value:
        if not isinstance(each, int | Polynomial) or isinstance(each, bool):
            raise NotLifted("a number of lanes that is not known at compile time")
        made.append(each if isinstance(each, Polynomial) else number(each))
    return tuple(made)


def advance(execution: Execution, given: Arguments) -> Value:
    pointer = given["base"]
    if not isinstance(pointer, BlockPointer):
        raise NotLifted("'tl.advance' of something that is no block pointer")
    steps = _integers(execution, given["offsets"])
    if len(steps) != len(pointer.offsets):
        raise NotLifted("'tl.advance' by a different number of dimensions")
    return replace(pointer, offsets=tuple(at + step for at, step in zip(pointer.offsets, steps, strict=True)))


# --------------------------------------------------------------------------------------------------------------- access
def _place(execution: Execution, pointer: BlockPointer, checked: tuple[int, ...]) -> tuple[Pointer, Tile]:
    """The address of every lane, and whether it is within the boundaries that are checked."""
    ops = execution.operations
    offset = pointer.base.offset
    conditions: list[Expression] = []
    for dimension, (at, extent) in enumerate(zip(pointer.offsets, pointer.block, strict=True)):
        lane = atomic(ops.lanes[dimension]) if extent != ONE else number(0)
        coordinate = at + lane
        offset = offset + coordinate * pointer.strides[dimension]
        if dimension in checked:
            conditions.append(ops.below_zero(coordinate - pointer.shape[dimension]))
            if not ops.nonnegative(coordinate):
                conditions.append(ops.below_zero(-coordinate - 1))
    mask = Tile(d.boolean, pointer.block, execution.conjunction(conditions))
    return replace(pointer.base, shape=pointer.block, offset=offset), mask


def _checked(pointer: BlockPointer, given: Value) -> tuple[int, ...]:
    if pointer.descriptor:
        return tuple(range(len(pointer.shape)))
    if given is None or given == "":
        return ()
    dimensions = given if isinstance(given, tuple) else (given,)
    unknown = next((each for each in dimensions if not isinstance(each, int)), None)
    if isinstance(unknown, Polynomial) and isinstance(unknown.atom, Symbol):
        raise NeedsValue("a boundary check needs a value", (unknown.atom.name,), number=True)
    if unknown is not None:
        raise NotLifted("a boundary check that is not known at compile time")
    return tuple(each for each in dimensions if isinstance(each, int))


def load_block(execution: Execution, pointer: BlockPointer, given: Arguments) -> Tile:
    checked = _checked(pointer, given.get("boundary_check"))
    place, mask = _place(execution, pointer, checked)
    padding = given.get("padding_option") or ""
    if padding not in ("", "zero", "nan"):
        raise NotLifted(f"padding by '{padding}'")
    if checked and not padding and not pointer.descriptor:
        execution.remark(UNPADDED)
    filling: Value = math.nan if padding == "nan" else 0
    return execution.load(place, mask if checked else None, filling if checked else None)


def store_block(execution: Execution, pointer: BlockPointer, given: Arguments) -> None:
    checked = _checked(pointer, given.get("boundary_check"))
    place, mask = _place(execution, pointer, checked)
    value = execution.operations.tile(given["value"])
    execution.store(place, value, mask if checked else None)


def descriptor_method(execution: Execution, pointer: BlockPointer, name: str, arguments: list[Value]) -> Value:
    """`descriptor.load([i, j])` and `descriptor.store([i, j], value)`."""
    if not arguments:
        raise NotLifted(f"'{name}' of a descriptor without coordinates")
    there = replace(pointer, offsets=_integers(execution, arguments[0]))
    if name == "load" and len(arguments) == 1:
        return load_block(execution, there, {})
    if name == "store" and len(arguments) == 2:
        store_block(execution, there, {"value": arguments[1]})
        return None
    raise NotLifted(f"'{name}' of a descriptor")
