"""What Triton's interpreter does too slowly, or wrongly, for two kernels to be compared in it.

It combines one pair of numbers after the other in reductions and scans: here combining functions work on tiles as on
numbers, so that a reduction of n elements takes log2(n) steps; as on a device, it may associate in any way, but keeps
the order. And it computes with the bits of bf16 numbers as if they were integers: here they are f32 while something is
computed, and what is bf16 again is rounded to nearest, ties to even.

Imported only within the process that runs a verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

Arrays = list[Any]
Method = Callable[..., Any]
ARITHMETIC = ("binary_op", "unary_op", "create_fma", "create_clampf", "create_rsqrt", "create_erf", "create_dot")


def install() -> None:
    """From now on; a version of Triton that has no such methods is left as it is."""
    for owner, name, method in (
        (interpreter.ReduceOps, "generic_reduce", _reduce),
        (interpreter.ScanOps, "generic_scan", _scan),
    ):
        if hasattr(owner, name):
            setattr(owner, name, method)
    builder = interpreter.InterpreterBuilder
    for name in ARITHMETIC:
        if hasattr(builder, name):
            setattr(builder, name, _in_f32(getattr(builder, name)))
    if hasattr(builder, "cast_impl"):
        builder.cast_impl = _rounding(builder.cast_impl)


# ---------------------------------------------------------------------------------------------------------------- bf16
def _in_f32(method: Method) -> Method:
    """Operands of bf16 as f32; a result that has the type of one, and is no truth value, is bf16 again."""

    def computed(self: Any, *operands: Any) -> Any:  # noqa: ANN401
        if not any(map(_has_bits, operands)):
            return method(self, *operands)
        made = method(self, *map(_widened, operands))
        typed = operands[2] if method.__name__ == "create_dot" else operands[0]
        rounds = _has_bits(typed) and made.data.dtype == np.float32
        return interpreter.TensorHandle(_bits(made.data), tl.bfloat16) if rounds else made

    return computed


def _rounding(method: Method) -> Method:
    """Conversions to bf16, of which the interpreter cuts off those from f32 and takes others for integers."""

    def converted(self: Any, source: Any, dtype: Any) -> Any:  # noqa: ANN401
        if dtype.scalar != tl.bfloat16 or _has_bits(source):
            return method(self, source, dtype)
        return interpreter.TensorHandle(_bits(source.data.astype(np.float32)), tl.bfloat16)

    return converted


def _has_bits(operand: Any) -> bool:  # noqa: ANN401
    """Whether these are bf16 numbers as their bits."""
    is_tile = isinstance(operand, interpreter.TensorHandle)
    return is_tile and operand.dtype.scalar == tl.bfloat16 and operand.data.dtype == np.uint16


def _widened(operand: Any) -> Any:  # noqa: ANN401
    if not _has_bits(operand):
        return operand
    return interpreter.TensorHandle((operand.data.astype(np.uint32) << 16).view(np.float32), tl.float32)


def _bits(numbers: Any) -> Any:  # noqa: ANN401
    """Of the bf16 numbers nearest to these of f32; adding may not carry a NaN over to infinity."""
    bits = np.ascontiguousarray(numbers).view(np.uint32).reshape(np.shape(numbers))
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
    return np.where(np.isnan(numbers), (bits >> 16) | np.uint32(0x40), rounded).astype(np.uint16)


# ------------------------------------------------------------------------------------------------ reductions and scans


def _combined(operation: Any, tiles: Sequence[Any]) -> Callable[[Arrays, Arrays], Arrays]:  # noqa: ANN401
    dtypes = [tile.dtype for tile in tiles]

    def function(left: Arrays, right: Arrays) -> Arrays:
        pairs = [
            operation.to_tensor(each, dtype) for side in (left, right) for each, dtype in zip(side, dtypes, strict=True)
        ]
        made = operation.combine_fn.fn(*pairs)
        made = made if isinstance(made, tuple) else (made,)
        arrays = [each.handle.data if isinstance(each, tl.tensor) else np.asarray(each) for each in made]
        return [np.broadcast_to(each, old.shape).astype(old.dtype) for each, old in zip(arrays, left, strict=True)]

    return function


def _reduce(self: Any, tiles: Sequence[Any]) -> list[Any]:  # noqa: ANN401
    whole, rank = self.axis is None, len(tiles[0].handle.data.shape)
    arrays = [tile.handle.data.reshape(-1) if whole else tile.handle.data for tile in tiles]
    axis = 0 if whole else self.axis % rank
    combine = _combined(self, tiles)
    arrays = [np.moveaxis(each, axis, -1) for each in arrays]
    while arrays[0].shape[-1] > 1:
        arrays = combine([each[..., 0::2] for each in arrays], [each[..., 1::2] for each in arrays])
    kept = (1,) * rank if whole else tuple(np.insert(arrays[0].shape[:-1], axis, 1))
    made = [each.reshape(kept) if self.keep_dims else each[..., 0] for each in arrays]
    return [
        self.to_tensor(each if each.shape else each.item(), tile.dtype) for each, tile in zip(made, tiles, strict=True)
    ]


def _scan(self: Any, tiles: Sequence[Any]) -> list[Any]:  # noqa: ANN401
    combine = _combined(self, tiles)
    arrays = [np.moveaxis(tile.handle.data, self.axis, -1) for tile in tiles]
    places = np.arange(arrays[0].shape[-1])
    distance = 1
    while distance < len(places):
        before = [np.roll(each, distance, axis=-1) for each in arrays]
        made = combine(before, arrays)
        arrays = [np.where(places >= distance, new, old) for new, old in zip(made, arrays, strict=True)]
        distance *= 2
    return [
        self.to_tensor(np.moveaxis(each, -1, self.axis), tile.dtype) for each, tile in zip(arrays, tiles, strict=True)
    ]
