"""Tuples and block pointers as the numbers they are made of, for loops that carry them."""

from __future__ import annotations

from collections.abc import Iterator

from intent.records import replace
from translators.triton_source.read.operations import Operations
from translators.triton_source.read.values import BlockPointer, NotLifted, Pointer, Tile, Value

Part = Tile | Pointer


def parts(operations: Operations, value: Value) -> Iterator[Part]:
    """What an iteration can change of a value."""
    match value:
        case Pointer():
            yield value
        case BlockPointer():
            yield from (operations.integer(offset) for offset in value.offsets)
        case tuple():
            for each in value:
                yield from parts(operations, each)
        case _:
            yield operations.tile(value)


def rebuilt(value: Value, made: Iterator[Part]) -> Value:
    """The value with other parts, in the same order."""
    match value:
        case BlockPointer():
            offsets = tuple(part.value.polynomial for _ in value.offsets if isinstance(part := next(made), Tile))
            return replace(value, offsets=offsets)
        case tuple():
            return tuple(rebuilt(each, made) for each in value)
        case _:
            return next(made)


def same_structure(first: Value, second: Value) -> None:
    """Raises NotLifted if the second cannot be the first after an iteration."""
    match first, second:
        case BlockPointer(), BlockPointer() if replace(second, offsets=first.offsets) == first:
            return
        case tuple(), tuple() if len(first) == len(second):
            for one, other in zip(first, second, strict=True):
                same_structure(one, other)
        case (BlockPointer() | tuple(), _) | (_, BlockPointer() | tuple()):
            raise NotLifted("what a loop carries changes its kind")
        case _:
            return
