"""The numbers that reductions begin with, in the type of what they reduce."""

from __future__ import annotations

from translators.lifting.sinks import Residue
from translators.tile.expression import Arena, Expression


def neutral(arena: Arena, kind: str, like: Expression) -> Expression:
    """The identity of a reduction."""
    dtype = like.dtype
    match kind:
        case "sum":
            value: bool | int | float = 0.0 if dtype.is_float else 0
        case "product":
            value = 1.0 if dtype.is_float else 1
        case "max" | "max_num" | "arg_max":
            value = float("-inf") if dtype.is_float else -(2 ** (dtype.bits - 1)) if dtype.is_signed else 0
        case "min" | "min_num" | "arg_min":
            value = float("inf") if dtype.is_float else 2 ** (dtype.bits - dtype.is_signed) - 1
        case "any" | "all":
            value = kind == "all"
        case _:
            raise Residue(f"a reduction '{kind}' without an identity")
    return arena.make("constant", dtype, (), value)


def converted(arena: Arena, value: Expression, like: Expression) -> Expression:
    known = value.attribute.constant if value.operation == "index" else None
    if known is not None:
        return arena.make("constant", like.dtype, (), float(known) if like.dtype.is_float else known)
    return arena.make("cast", like.dtype, (value,))
