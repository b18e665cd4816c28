"""Functions of Triton and its device library that are written with others: what they compute, in those others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from intent import dtypes as d
from translators.algebra.polynomial import floor_divide, minimum, remainder
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.values import NotLifted, Tile, Value

Handler = Callable[[Execution, Mapping[str, Value]], Value]


def _float(execution: Execution, value: Value) -> Tile:
    tile = execution.operations.tile(value)
    if not tile.dtype.is_float:
        raise NotLifted("a function of floats, of an integer")
    return tile


def _called(execution: Execution, function: str, tile: Tile) -> Tile:
    return Tile(tile.dtype, tile.shape, execution.operations.pointwise(function, tile.dtype, tile.value))


def _clamp(execution: Execution, given: Mapping[str, Value]) -> Value:
    ops = execution.operations
    return ops.extremum("minimum", ops.extremum("maximum", given["x"], given["min"]), given["max"])


def _log2(execution: Execution, given: Mapping[str, Value]) -> Value:
    execution.remark("log2: the natural logarithm times 1/ln 2 here")
    logarithm = _called(execution, "log", _float(execution, given["x"]))
    return execution.operations.binary("*", logarithm, math.log2(math.e))


def _power(execution: Execution, given: Mapping[str, Value]) -> Value:
    ops = execution.operations
    first, second = ops.aligned(_float(execution, given["x"]), ops.tile(given["y"]))
    operands = (first.value, ops.converted(ops.data(second), first.dtype))
    shape = ops.joint_shape(first.shape, second.shape)
    return Tile(first.dtype, shape, ops.pointwise("power", first.dtype, *operands))


def _is_nan(execution: Execution, given: Mapping[str, Value]) -> Value:
    tile = _float(execution, given["x"])
    return execution.operations.compare("!=", tile, tile)


def _against_infinity(operator: str) -> Handler:
    def handler(execution: Execution, given: Mapping[str, Value]) -> Value:
        size = _called(execution, "abs", _float(execution, given["x"]))
        return execution.operations.compare(operator, size, math.inf)

    return handler


def _truncate(execution: Execution, given: Mapping[str, Value]) -> Value:
    ops = execution.operations
    tile = _float(execution, given["x"])
    below = _called(execution, "floor", tile)
    above = _called(execution, "negative", _called(execution, "floor", _called(execution, "negative", tile)))
    return ops.select(ops.compare("<", tile, 0.0), above, below)


def _round_to_even(execution: Execution, given: Mapping[str, Value]) -> Value:
    """floor(x), or one more if x is more than half above it, or half above an odd number."""
    ops = execution.operations
    tile = _float(execution, given["x"])
    below = _called(execution, "floor", tile)
    rest = ops.binary("-", tile, below)
    halves = _called(execution, "floor", ops.tile(ops.binary("*", below, 0.5)))
    odd = ops.compare("!=", ops.binary("-", below, ops.binary("*", halves, 2.0)), 0.0)
    up = ops.binary("|", ops.compare(">", rest, 0.5), ops.binary("&", ops.compare("==", rest, 0.5), odd))
    return ops.select(up, ops.binary("+", below, 1.0), below)


def _to_nearest_integer(execution: Execution, given: Mapping[str, Value]) -> Value:
    return execution.operations.cast(_round_to_even(execution, given), d.i64)


def _tangent(execution: Execution, given: Mapping[str, Value]) -> Value:
    execution.remark("tan: a sine divided by a cosine here")
    tile = _float(execution, given["x"])
    return execution.operations.divided(_called(execution, "sin", tile), _called(execution, "cos", tile))


def _fast(function: str) -> Handler:
    def handler(execution: Execution, given: Mapping[str, Value]) -> Value:
        execution.remark(f"{function}: a fast approximation in the original, the accurate function here")
        return _called(execution, function, _float(execution, given["x"]))

    return handler


def _quotient(execution: Execution, given: Mapping[str, Value]) -> Value:
    return execution.operations.divided(given["x"], given["y"])


def _extremum(kind: str) -> Handler:
    def handler(execution: Execution, given: Mapping[str, Value]) -> Value:
        return execution.operations.extremum(kind, given["x"], given["y"])

    return handler


def _upper_half(execution: Execution, given: Mapping[str, Value]) -> Value:
    """tl.umulhi: the upper half of a product, on which devices and Triton's interpreter disagree for signed ones."""
    ops = execution.operations
    first, second = ops.aligned(ops.tile(given["x"]), ops.tile(given["y"]))
    dtype = ops.promoted(first, second)
    if dtype != d.u32:
        raise NotLifted("the upper half of a product of anything but unsigned integers of 32 bits")
    wide = (ops.converted(ops.converted(ops.data(each), d.u32), d.u64) for each in (first, second))
    product = ops.pointwise("multiply", d.u64, *wide)
    upper = ops.pointwise("shift_right", d.u64, product, ops.constant(d.u64, 32))
    return Tile(dtype, ops.joint_shape(first.shape, second.shape), ops.converted(upper, dtype))


def _swizzle(execution: Execution, given: Mapping[str, Value]) -> Value:
    """tl.swizzle2d: row-major numbers (i, j) in groups of size_g rows, within which columns come first."""
    ops = execution.operations
    i, j, rows, columns, group = (ops.tile(given[name]) for name in ("i", "j", "size_i", "size_j", "size_g"))
    if any(each.value.dtype != d.index for each in (i, j, rows, columns, group)):
        raise NotLifted("a swizzle of data")
    flat = i.value.polynomial * columns.value.polynomial + j.value.polynomial
    whole = group.value.polynomial * columns.value.polynomial
    first = floor_divide(flat, whole) * group.value.polynomial
    height = minimum(rows.value.polynomial - first, group.value.polynomial)  # 1 at least: (i, j) is within the sizes
    within = remainder(flat, whole)
    shape = ops.shape_of(i, j)
    return (
        ops.integer(first + remainder(within, height), shape),
        ops.integer(floor_divide(within, height), shape),
    )


_OF_ONE: Final[Mapping[str, Handler]] = {
    "log2": _log2, "isnan": _is_nan, "isinf": _against_infinity("=="), "isfinited": _against_infinity("<"),
    "finitef": _against_infinity("<"), "trunc": _truncate, "rint": _round_to_even, "nearbyint": _round_to_even,
    "llrint": _to_nearest_integer,
    "tan": _tangent, "fast_expf": _fast("exp"), "fast_exp2f": _fast("exp2"), "fast_logf": _fast("log"),
    "fast_sinf": _fast("sin"), "fast_cosf": _fast("cos"), "fast_tanhf": _fast("tanh"), "fast_log2f": _log2,
}  # fmt: skip
_OF_TWO: Final[Mapping[str, Handler]] = {
    "pow": _power, "fast_powf": _power, "fast_dividef": _quotient, "fdividef": _quotient, "div_rn": _quotient,
    "max": _extremum("maximum"), "min": _extremum("minimum"), "fmax": _extremum("maximum"),
    "fmin": _extremum("minimum"),
}  # fmt: skip
# (parameter names, what it does), by name.
FUNCTIONS: Final[Mapping[str, tuple[tuple[str, ...], Handler]]] = {
    "tl.log2": (("x",), _log2),
    "tl.math.log2": (("x",), _log2),
    "tl.clamp": (("x", "min", "max", "propagate_nan"), _clamp),
    "tl.umulhi": (("x", "y"), _upper_half),
    "tl.math.umulhi": (("x", "y"), _upper_half),
    "tl.swizzle2d": (("i", "j", "size_i", "size_j", "size_g"), _swizzle),
    **{
        f"{module}.{name}": (("x",), handler)
        for module in ("libdevice", "tl.math", "extra")
        for name, handler in _OF_ONE.items()
    },
    **{
        f"{module}.{name}": (("x", "y"), handler)
        for module in ("libdevice", "tl.math", "extra")
        for name, handler in _OF_TWO.items()
    },
}
