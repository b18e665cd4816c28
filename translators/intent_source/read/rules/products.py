"""Tuples and records: flattening, rebuilding, and the one-schema check of merges, carries and helper results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Operand, Product, ShapeOf
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, listed, show_shape
from translators.intent_source.read.rules.literals import as_value, default_dtype, static_number
from translators.logical.program import Value

Leaves = tuple[Operand, ...]


def flatten(operand: Operand) -> Leaves:
    """The components of nested tuples and records in order; anything else is one leaf."""
    match operand:
        case Product(items=items):
            return tuple(leaf for item in items for leaf in flatten(item))
        case ShapeOf(extents=extents):
            return extents
        case _:
            return (operand,)


def rebuild(template: Operand, leaves: Sequence[Operand]) -> Operand:
    """The nesting of `template` around new leaves."""
    return _rebuild(template, iter(leaves))


def _rebuild(template: Operand, leaves: Iterator[Operand]) -> Operand:
    match template:
        case Product(items=items, names=names):
            return Product(tuple(_rebuild(item, leaves) for item in items), names)
        case ShapeOf(extents=extents):
            return Product(tuple(next(leaves) for _ in extents))
        case _:
            return next(leaves)


def same_nesting(a: Operand, b: Operand) -> bool:
    match a, b:
        case Product(), Product():
            pairs = zip(a.items, b.items, strict=False)
            return a.names == b.names and len(a.items) == len(b.items) and all(same_nesting(*pair) for pair in pairs)
        case (ShapeOf() | Product(), ShapeOf() | Product()):
            return len(flatten(a)) == len(flatten(b)) and not _has_names(a) and not _has_names(b)
        case _:
            return not isinstance(a, Product | ShapeOf) and not isinstance(b, Product | ShapeOf)


def _has_names(operand: Operand) -> bool:
    return isinstance(operand, Product) and operand.names is not None


def show_schema(builder: Builder, operand: Operand) -> str:
    match operand:
        case Product(items=items, names=None):
            return f"a tuple of {len(items)}"
        case Product(names=names) if names is not None:
            return f"a record with {listed(names)}"
        case _:
            return describe(builder, operand)


def unify(builder: Builder, a: Operand, b: Operand, what: str) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """Both operands as values of one schema; a literal takes the dtype of the other side."""
    if not same_nesting(a, b):
        schemas = f"{show_schema(builder, a)} and {show_schema(builder, b)}"
        builder.reject(codes.BRANCHES, f"{what} must be of one kind, and this is {schemas}")
    pairs = [_unify_leaf(builder, x, y, what) for x, y in zip(flatten(a), flatten(b), strict=True)]
    return tuple(left for left, _ in pairs), tuple(right for _, right in pairs)


def _unify_leaf(builder: Builder, a: Operand, b: Operand, what: str) -> tuple[Value, Value]:
    left, right = _instantiated(builder, a, b)
    if left.dtype != right.dtype:
        message = f"{what} must have one dtype, and this is {left.dtype.name} and {right.dtype.name}"
        builder.reject(codes.BRANCHES, message, f"cast one of them, for example I.cast(..., {left.dtype!r})")
    if left.is_scalar != right.is_scalar:
        message = f"{what} must have one type: {describe(builder, left)} and {describe(builder, right)}"
        builder.reject(codes.BRANCHES, message, "I.full(shape, value, dtype) makes a tensor of a scalar")
    if left.shape != right.shape:
        shapes = f"{show_shape(builder, left.shape)} and {show_shape(builder, right.shape)}"
        help = "a broadcast never enlarges it: start from I.full of the final shape"
        builder.reject(codes.BRANCHES, f"{what} must have one shape, and this is {shapes}", help)
    return left, right


def _instantiated(builder: Builder, a: Operand, b: Operand) -> tuple[Value, Value]:
    if not isinstance(a, Value) and isinstance(b, Value):
        return as_value(builder, a, b.dtype), b
    if isinstance(a, Value):
        return a, b if isinstance(b, Value) else as_value(builder, b, a.dtype)
    x, y = static_number(a), static_number(b)
    both = x is not None and y is not None and isinstance(x, bool) == isinstance(y, bool)
    dtype = default_dtype(x + y if isinstance(x, float) or isinstance(y, float) else x) if both else None  # type: ignore[operator, arg-type]
    return as_value(builder, a, dtype), as_value(builder, b, dtype)
