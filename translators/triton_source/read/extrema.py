"""Where the largest and the smallest element of a tile stand.

The position is a coordinate: `reduce` of kind `arg_max` or `arg_min` is the first coordinate of its axis at which the
extremum is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from intent import dtypes as d
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.values import NotLifted, Tile, Value

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]


def position(kind: str) -> Handler:
    """`tl.argmax` and `tl.argmin`."""

    def handler(execution: Execution, given: Arguments) -> Value:
        return position_of(execution, kind, given)

    return handler


def position_of(execution: Execution, kind: str, given: Arguments) -> Tile:
    from translators.triton_source.read.builtins import reduce_tile, widened

    tile = widened(execution, kind, execution.operations.tile(given["input"]), None)
    axis = given.get("axis")
    if given.get("tie_break_left", True) is not True or given.get("return_indices_tie_break_left", True) is not True:
        raise NotLifted("the position of any of several equal elements")
    if axis is None and len(tile.shape) > 1:
        raise NotLifted("a position in several dimensions")
    made = reduce_tile(execution, f"arg_{kind}", tile, 0 if axis is None else axis, bool(given.get("keep_dims")))
    if made.value.operation != "reduce":
        return Tile(d.i32, made.shape, execution.operations.constant(d.index, 0))
    found = execution.arena.make("reduce", d.index, made.value.arguments, made.value.attribute)
    execution.remark(
        "a position of a NaN: tl.argmax and tl.argmin pass over it, the reductions here give the first NaN"
    )
    return Tile(d.i32, made.shape, found)
