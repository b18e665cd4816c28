"""Prefix operations: element i of a scan is the reduction of the elements 0 to i (from i on, for a reversed one)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from translators.algebra.polynomial import Atom, Polynomial, atomic, number
from translators.tile.expression import Reduction
from translators.tile.substitution import substitute
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.operations import ONE
from translators.triton_source.read.values import Function, NotLifted, Tile, Value

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]


def scan_tile(execution: Execution, kind: str, tile: Tile, axis: Value, reverse: Value) -> Tile:
    ops = execution.operations
    rank = len(tile.shape)
    if not isinstance(axis, int) or not -rank <= axis < rank or not isinstance(reverse, bool | int):
        raise NotLifted("a scan over a dimension that the tile does not have")
    dimension = axis % rank
    extent = tile.shape[dimension]
    if extent == ONE:
        return tile
    lane = ops.lanes[dimension]
    low, high = (atomic(lane), extent) if reverse else (number(0), atomic(lane) + 1)
    bound = execution.arena.axis("lane", low, high)
    mapping: dict[Atom, Polynomial] = {lane: atomic(bound)}
    body = substitute(execution.arena, ops.data(tile), mapping)
    made = execution.arena.make("reduce", tile.dtype, (body,), Reduction(kind, (bound,)))
    return Tile(tile.dtype, tile.shape, made)


def scanned(kind: str) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        from translators.triton_source.read.builtins import widened

        tile = widened(execution, "sum", execution.operations.tile(given["input"]), given.get("dtype"))
        return scan_tile(execution, kind, tile, given.get("axis", 0), given.get("reverse", False))

    return handler


def associative_scan(execution: Execution, given: Arguments) -> Value:
    """What the combine function computes of two numbers decides."""
    from translators.triton_source.read.combines import combined_kind

    combine = given["combine_fn"]
    if not isinstance(combine, Function) or isinstance(given["input"], tuple):
        raise NotLifted("a scan of several tiles, or by something that is no function")
    tile = execution.operations.tile(given["input"])
    kind = combined_kind(execution, combine, tile)
    return scan_tile(execution, kind, tile, given.get("axis", 0), given.get("reverse", False))
