"""How reductions and scans along an axis of a tile are spelled in Triton, and the random bits of a counter."""

from __future__ import annotations

import math

from intent.dtypes import DType, f8e4m3fn, f32, u64
from translators.triton_source.arithmetic import pointwise
from translators.triton_source.conversions import TRITON_NAME, constant, narrow, typed, widen
from translators.triton_source.expressions import Code, Emitted, binary, call, method

_ACCUMULATE = {"sum": "add", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def identity(kind: str, dtype: DType) -> bool | int | float:
    """The value that changes nothing: what masked lanes carry and an empty reduction gives."""
    match kind:
        case "sum" | "count":
            return 0.0 if dtype.is_float else 0
        case "any" | "all":
            return kind == "all"
        case "max":
            return _lowest(dtype)
        case "min":
            return _highest(dtype)
    raise ValueError(f"no identity of {kind}")


def _lowest(dtype: DType) -> bool | int | float:
    if dtype.is_float:
        return -448.0 if dtype == f8e4m3fn else -math.inf
    if dtype.kind == "bool":
        return False
    return -(1 << (dtype.bits - 1)) if dtype.is_signed else 0


def _highest(dtype: DType) -> bool | int | float:
    if dtype.is_float:
        return 448.0 if dtype == f8e4m3fn else math.inf
    if dtype.kind == "bool":
        return True
    return (1 << (dtype.bits - dtype.is_signed)) - 1


def accumulate(kind: str, dtype: DType, accumulator: Code, element: Code) -> Emitted:
    """One step of the reduction, elementwise."""
    return pointwise(_ACCUMULATE[kind], dtype, dtype, (accumulator, element))


def computed_in(dtype: DType) -> DType:
    """The type in which tiles of the dtype are reduced: float32 for narrower floats, which round once, at the end."""
    return f32 if dtype.is_float and dtype.bits < 32 else dtype


def reduce_tile(kind: str, dtype: DType, code: Code, axis: int) -> Emitted:
    """The reduction of a tile along one axis, which the result lacks. `max` and `min` give NaN if there is one."""
    if dtype.kind == "bool":
        return Emitted(_reduce_bool(kind, code, axis))
    if not dtype.is_float:
        return Emitted(_reduce_integers(kind, dtype, code, axis))
    wide = widen(code, dtype)
    if kind == "sum":
        reduced = Emitted(call("tl.sum", wide.code, axis=str(axis)))
    else:
        combine = "_maximum" if kind == "max" else "_minimum"
        reduced = Emitted(call("tl.reduce", wide.code, Code(str(axis)), Code(combine)), frozenset({combine}))
    return _rounded(dtype, wide, reduced, exact=kind != "sum")


def _rounded(dtype: DType, wide: Emitted, reduced: Emitted, exact: bool) -> Emitted:
    result = narrow(reduced.code, dtype, exact) if computed_in(dtype) != dtype else Emitted(reduced.code)
    return Emitted(result.code, wide.helpers | reduced.helpers | result.helpers)


def _reduce_bool(kind: str, code: Code, axis: int) -> Code:
    """Triton has no reduction of bool; 0 and 1 serve."""
    function = "tl.min" if kind in ("all", "min") else "tl.max"
    return binary("!=", call(function, method(code, "to", "tl.int32"), axis=str(axis)), Code("0"))


def _reduce_integers(kind: str, dtype: DType, code: Code, axis: int) -> Code:
    """Triton widens types of fewer than 32 bits; the language does so only where the author's type says it."""
    name = TRITON_NAME[dtype.name]
    if kind == "sum":
        return call("tl.sum", code, axis=str(axis), **({"dtype": name} if dtype.bits < 32 else {}))
    reduced = call(f"tl.{kind}", code, axis=str(axis))
    return method(reduced, "to", name) if dtype.bits < 32 else reduced


def scan_tile(kind: str, dtype: DType, code: Code, axis: int, reverse: bool) -> Emitted:
    """Inclusive prefixes along one axis; kind is sum, max or min."""
    backwards = {"reverse": "True"} if reverse else {}
    wide = widen(code, dtype) if dtype.is_float else Emitted(code)
    if kind == "sum":
        narrow_integer = {"dtype": TRITON_NAME[dtype.name]} if not dtype.is_float and dtype.bits < 32 else {}
        scanned = Emitted(call("tl.cumsum", wide.code, axis=str(axis), **backwards, **narrow_integer))
    else:
        combine = "_maximum" if kind == "max" else "_minimum"
        arguments = (wide.code, Code(str(axis)), Code(combine))
        scanned = Emitted(call("tl.associative_scan", *arguments, **backwards), frozenset({combine}))
    return _rounded(dtype, wide, scanned, exact=kind != "sum")


def arg_max_tile(dtype: DType, values: Code, indices: Code, axis: int) -> Emitted:
    """A pair (largest values, their lowest indices); the first NaN wins. Values come in `computed_in(dtype)`."""
    wide = widen(values, dtype) if dtype.is_float else Emitted(values)
    pair = Code(f"({wide.code.text}, {indices.text})")
    reduced = call("tl.reduce", pair, Code(str(axis)), Code("_arg_max"))
    return Emitted(reduced, wide.helpers | {"_arg_max"})


def accumulate_arg_max(best: Code, best_index: Code, values: Code, indices: Code, backwards: bool) -> Emitted:
    """One elementwise step along increasing indices, or decreasing ones, a pair; values are in `computed_in(dtype)`."""
    function = "_arg_max" if backwards else "_later_max"
    return Emitted(call(function, best, best_index, values, indices), frozenset({function}))


def count_tile(dtype: DType, values: Code, first: Code, condition: Code, bins: str) -> Emitted:
    """How many of the values, a row of lanes, are first, first + 1, ...: one 32-bit count for each of `bins`."""
    position = values
    if dtype.bits < 32 or not dtype.is_signed:
        position = method(values, "to", "tl.int64" if dtype.bits >= 32 else "tl.int32")
    return Emitted(call("_histogram", position, first, condition, Code(bins)), frozenset({"_histogram"}))


def random_bits(seed: Code, counter: Code) -> Emitted:
    """The 32-bit Philox word of a counter."""
    return Emitted(call("_philox", typed(seed, u64), typed(counter, u64)), frozenset({"_philox"}))


def identity_code(kind: str, dtype: DType) -> Code:
    return constant(identity(kind, dtype), dtype)
