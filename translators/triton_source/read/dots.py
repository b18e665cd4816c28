"""Matrix products of tiles, and the element types that they tell: both sides of a dot are of one type."""

from __future__ import annotations

from collections.abc import Mapping

from intent import dtypes as d
from intent.dtypes import DType
from translators.algebra.polynomial import atomic, number
from translators.tile.expression import Expression, Reduction
from translators.tile.substitution import substitute
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.operations import ONE
from translators.triton_source.read.values import HoldsType, NotLifted, Tile, Value

NO_MATRICES = "a dot of anything but two matching matrices"
Arguments = Mapping[str, Value]


def dot(execution: Execution, given: Arguments) -> Value:
    ops = execution.operations
    left, right = ops.tile(given["input"]), ops.tile(given["other"])
    if len(left.shape) != 2 or len(right.shape) != 2 or left.shape[1] != right.shape[0]:
        raise NotLifted(NO_MATRICES)
    if left.dtype != right.dtype:
        _expect_type(left, right.dtype)
        _expect_type(right, left.dtype)
        raise NotLifted(f"a dot of {left.dtype.name} and {right.dtype.name}")
    if given.get("out_dtype") == d.i32:
        _expect_type(left, d.i8)
        _expect_type(right, d.i8)
    made = _product(execution, left, right, _accumulated(execution, left, given))
    accumulator = given.get("acc")
    return made if accumulator is None else ops.binary("+", accumulator, made)


def _product(execution: Execution, left: Tile, right: Tile, dtype: DType) -> Tile:
    ops = execution.operations
    axis = execution.arena.axis("lane", number(0), left.shape[1])
    bound = atomic(axis) if left.shape[1] != ONE else number(0)
    lhs = substitute(execution.arena, ops.data(left), {ops.lanes[1]: bound})
    rhs = substitute(execution.arena, ops.data(right), {ops.lanes[0]: bound})
    made: Expression = execution.arena.make("contract", dtype, (lhs, rhs), Reduction("sum", (axis,)))
    return Tile(dtype, (left.shape[0], right.shape[1]), made)


def _accumulated(execution: Execution, left: Tile, given: Arguments) -> DType:
    """The type of the sums. In f16 they are less exact, and smaller, than here: they are taken in f32 all the same."""
    dtype = given.get("out_dtype") or (d.f32 if left.dtype.is_float else d.i32)
    if not isinstance(dtype, DType) or (left.dtype.is_float and dtype not in (d.f16, d.f32, d.f64)):
        raise NotLifted("a dot that accumulates in a narrow type")
    if left.dtype == d.f32 and given.get("input_precision") != "ieee" and given.get("allow_tf32") is not False:
        execution.remark("dot: TF32 products in the original, IEEE f32 here")
    if dtype == d.f16:
        execution.remark("dot: sums in f16 in the original, in the type that they are used in here")
    return dtype


def _expect_type(operand: Tile, dtype: DType) -> None:
    """What is loaded through a pointer whose type was chosen is of the other side's type."""
    pointer = _loaded(operand.value)
    if pointer is not None and operand.dtype == d.f32 and operand.value.dtype == d.f32 and dtype != d.f32:
        raise HoldsType(pointer, dtype, NO_MATRICES)


def _loaded(value: Expression) -> str | None:
    """The pointer whose elements these are, as they are in memory, or a number instead of them."""
    if value.operation == "select":
        true, false = value.arguments[1:]
        value = false if true.operation == "constant" else true if false.operation == "constant" else value
    return value.attribute.pointer if value.operation == "load" else None
