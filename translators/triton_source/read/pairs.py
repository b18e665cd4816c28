"""Two tiles as one with a last dimension of two lanes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from intent import dtypes as d
from translators.algebra.polynomial import Polynomial, atomic, number
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.expressions import reshaped
from translators.triton_source.read.values import NotLifted, Tile, Value

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]
TWO: Final = number(2)


def _split(execution: Execution, given: Arguments) -> Value:
    ops = execution.operations
    tile = ops.tile(given["a"])
    if not tile.shape or tile.shape[-1] != TWO:
        raise NotLifted("a split of a tile whose last dimension has not two lanes")
    last = len(tile.shape) - 1
    return tuple(ops.moved(tile, {last: number(position)}, tile.shape[:-1]) for position in range(2))


def _join(execution: Execution, given: Arguments) -> Value:
    ops = execution.operations
    first, second = ops.aligned(ops.tile(given["a"]), ops.tile(given["b"]))
    if first.dtype != second.dtype:
        raise NotLifted("a join of tiles of different types")
    shape = ops.joint_shape(first.shape, second.shape)
    lane = execution.operations.lanes[len(shape)]
    is_first = Tile(d.boolean, (*shape, TWO), ops.compared("==", atomic(lane)))
    return ops.select(is_first, _wider(first), _wider(second))


def _wider(tile: Tile) -> Tile:
    return Tile(tile.dtype, (*tile.shape, number(1)), tile.value)


def _interleave(execution: Execution, given: Arguments) -> Value:
    joined = _join(execution, given)
    assert isinstance(joined, Tile)
    *outer, last, two = joined.shape
    shape: tuple[Polynomial, ...] = (*outer, last * two)
    return reshaped(execution, joined, shape)


PAIRS: Final[Mapping[str, tuple[tuple[str, ...], Handler]]] = {
    "tl.split": (("a",), _split),
    "tl.join": (("a", "b"), _join),
    "tl.interleave": (("a", "b"), _interleave),
}
