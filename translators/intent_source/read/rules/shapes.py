"""Broadcasting, shape arguments, and the operations that only rearrange: full, reshape, transpose, join."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

from intent.dtypes import DType
from translators.algebra.polynomial import Polynomial, Symbol, floor_divide, number, product, symbol
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    Keyword,
    Literal,
    Operand,
    Product,
    RaggedRow,
    ShapeOf,
    Text,
)
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, show_axes, show_extent, show_shape
from translators.intent_source.read.rules.literals import as_value, cast_literal, static_integer
from translators.logical.program import Full, Join, Pick, Relation, Reshape, Transpose, Value
from translators.logical.types import Domain, Scalar, Tensor, Type

Shape = tuple[Polynomial, ...]
ONE = number(1)


# ------------------------------------------------------------------------------------------------------- broadcasting
def broadcast(builder: Builder, values: Iterable[Value], what: str, code: str | None = None) -> Shape:
    """The shape that all values reach, aligned from the right; only the extent that is the number 1 stretches."""
    shape: Shape = ()
    for value in values:
        shape = join_shapes(builder, shape, value.shape, what, code)
    return shape


def join_shapes(builder: Builder, left: Shape, right: Shape, what: str, code: str | None = None) -> Shape:
    rank = max(len(left), len(right))
    pairs = zip(_padded(left, rank), _padded(right, rank), strict=True)
    joined = tuple(_join_extents(a, b) for a, b in pairs)
    if any(extent is None for extent in joined):
        _reject_alignment(builder, left, right, what, _extents_join, code)
    return tuple(extent for extent in joined if extent is not None)


def fits(builder: Builder, value: Value, shape: Shape, what: str, code: str) -> None:
    """`value` broadcasts to `shape` without losing an axis and without enlarging it."""
    given = value.shape
    if len(given) > len(shape):
        message = f"{what}: {show_shape(builder, given)} has more axes than {show_shape(builder, shape)}"
        builder.reject(code, message, _help_for_surplus(shape))
    pairs = zip(_padded(given, len(shape)), shape, strict=True)
    if not all(extent in (ONE, wanted) for extent, wanted in pairs):
        _reject_alignment(builder, given, shape, what, lambda a, b: a in (ONE, b), code)


def result_type(dtype: DType, values: Sequence[Value], shape: Shape) -> Type:
    """A scalar if every operand is one, else a tensor (also of rank zero)."""
    return Scalar(dtype) if all(value.is_scalar for value in values) else Tensor(dtype, shape)


def like(value: Value, dtype: DType) -> Type:
    """The type of `value` with another dtype."""
    return Scalar(dtype) if value.is_scalar else Tensor(dtype, value.shape)


def _padded(shape: Shape, rank: int) -> Shape:
    return (ONE,) * (rank - len(shape)) + shape


def _join_extents(a: Polynomial, b: Polynomial) -> Polynomial | None:
    if a in (b, ONE):
        return b
    return a if b == ONE else None


def _extents_join(a: Polynomial, b: Polynomial) -> bool:
    return _join_extents(a, b) is not None


def _help_for_surplus(shape: Shape) -> str:
    if not shape:
        return "the place holds one element: take one with t[0], or reduce the value first"
    return "axes are never dropped: take one position, for example v[:, 0], or reshape the value"


def _reject_alignment(
    builder: Builder,
    left: Shape,
    right: Shape,
    what: str,
    agree: Callable[[Polynomial, Polynomial], bool],
    code: str | None = None,
) -> NoReturn:
    message = f"{what}: {show_shape(builder, left)} and {show_shape(builder, right)} do not align"
    rank = max(len(left), len(right))
    pairs = list(zip(_padded(left, rank), _padded(right, rank), strict=True))
    position = next(index for index, pair in enumerate(pairs) if not agree(*pair))
    a, b = pairs[position]
    detail = f"at axis {position - rank} one has {show_extent(builder, a)}, the other {show_extent(builder, b)}"
    code = code or (codes.SHAPES_DIFFER if len(left) != len(right) or _both_numbers(a, b) else codes.EXTENTS_DIFFER)
    builder.reject(code, f"{message}: {detail}", _help_to_align(builder, left, right, a, b))


def _both_numbers(a: Polynomial, b: Polynomial) -> bool:
    return a.constant is not None and b.constant is not None


def _help_to_align(builder: Builder, left: Shape, right: Shape, a: Polynomial, b: Polynomial) -> str:
    short, long = sorted((left, right), key=len)
    if len(short) < len(long) and any(long[start : start + len(short)] == short for start in range(len(long))):
        return f"axes align from the right: {_reshape_hint(short, long)}"
    if _both_numbers(a, b):
        return "reshape, slice or transpose one of them so that the extents agree"
    if a.constant is not None or b.constant is not None:
        return "a symbolic extent never equals a number: write the number in the annotation, or use the symbol here"
    if not isinstance(a.atom, Symbol) or not isinstance(b.atom, Symbol):
        return "extents are equal if their expressions over the same values are: form both from one domain or .shape"
    first, second = show_extent(builder, a), show_extent(builder, b)
    return f"{first} and {second} are different extents even where they happen to be equal: use one symbol for both"


def _reshape_hint(short: Shape, long: Shape) -> str:
    start = next(start for start in range(len(long)) if long[start : start + len(short)] == short)
    kept = [f"v.shape[{axis}]" for axis in range(len(short))]
    return f"write I.reshape(v, ({', '.join(kept + ['1'] * (len(long) - start - len(short)))}))"


# ---------------------------------------------------------------------------------------------------- shape arguments
def shape_of(builder: Builder, operand: Operand) -> Shape:
    """A shape argument: extents, ints, symbol names, domains."""
    return tuple(extent_of(builder, item) for item in shape_items(operand))


def shape_items(operand: Operand) -> tuple[Operand, ...]:
    match operand:
        case Product(items=items, names=None):
            return items
        case ShapeOf(extents=extents):
            return extents
        case _:
            return (operand,)


def extent_of(builder: Builder, operand: Operand) -> Polynomial:
    match operand:
        case Domain(extent=extent) | RaggedRow(domain=Domain(extent=extent)):
            return extent
        case Text(value=name):
            return _symbol(builder, name)
        case Value(is_scalar=True) if operand.dtype.kind == "index":
            return builder.polynomial(operand)
        case Value(is_scalar=True) if operand.dtype.is_integer:
            help = "write I.cast(..., I.index)"
            builder.reject(codes.INDEX_MIXED, f"an extent is index, and this is {operand.dtype.name}", help, at="shape")
        case _:
            return _static_extent(builder, operand)


def _static_extent(builder: Builder, operand: Operand) -> Polynomial:
    value = static_integer(operand)
    if value is None:
        help = "a shape holds ints, extents such as x.shape[0], symbol names and domains"
        builder.reject(codes.SHAPE, f"{describe(builder, operand)} is not an extent", help, at="shape")
    if not 0 <= value < 1 << 63:
        builder.reject(codes.SHAPE, f"an extent lies between 0 and 2**63, and this is {value}", at="shape")
    return number(value)


def _symbol(builder: Builder, name: str) -> Polynomial:
    if builder.symbols and name not in builder.symbols:
        known = ", ".join(sorted(builder.symbols))
        builder.reject(
            codes.SHAPE, f"no parameter has an extent named {name!r}", f"the symbols are {known}", at="shape"
        )
    return symbol(name)


# ------------------------------------------------------------------------------------------------------------- axes
def axis_of(builder: Builder, operand: Operand, shape: Shape) -> int:
    """An axis number, counted from 0."""
    if isinstance(operand, Domain | RaggedRow):
        builder.reject(codes.DOMAIN_AS_AXIS, "a domain is not an axis number", _axis_hint(operand, shape), at="axis")
    axis = static_integer(operand)
    if axis is None:
        message = f"an axis is a compile-time integer, and this is {describe(builder, operand)}"
        builder.reject(codes.AXIS, message, "write axis=0", at="axis")
    if not -len(shape) <= axis < len(shape):
        message = f"axis {axis} does not exist: {show_shape(builder, shape)} has {show_axes(len(shape))}"
        builder.reject(codes.AXIS_RANGE, message, axes_help(len(shape)), at="axis")
    return axis % len(shape)


def axes_help(rank: int) -> str | None:
    if rank < 2:
        return "its one axis is 0" if rank else None
    return f"axes count from 0 to {rank - 1}, or from -{rank} to -1"


def axes_of(builder: Builder, operand: Operand, shape: Shape) -> tuple[int, ...]:
    """One axis number or a non-empty tuple of different ones, in increasing order."""
    items = operand.items if isinstance(operand, Product) else (operand,)
    if not items:
        builder.reject(codes.AXIS, "the tuple of axes is empty", "name at least one axis", at="axis")
    axes = tuple(axis_of(builder, item, shape) for item in items)
    if len(set(axes)) != len(axes):
        builder.reject(codes.AXIS_RANGE, "an axis is named twice", at="axis")
    return tuple(sorted(axes))


def _axis_hint(domain: Domain | RaggedRow, shape: Shape) -> str:
    extent = domain.extent if isinstance(domain, Domain) else domain.domain.extent
    return f"write axis={shape.index(extent) if extent in shape else 0}"


# --------------------------------------------------------------------------------------------------------- operations
def full(builder: Builder, shape: Operand, fill: Operand, dtype: DType) -> Value:
    value = scalar_value(builder, as_value(builder, fill, dtype), "the fill of I.full")
    return builder.one(Full(value), Tensor(dtype, shape_of(builder, shape)))


def zeros(builder: Builder, shape: Operand, dtype: DType) -> Value:
    return full(builder, shape, Literal(cast_literal(builder, 0, dtype)), dtype)


def scalar_value(builder: Builder, value: Value, what: str) -> Value:
    """A scalar, or the element of a rank-zero tensor."""
    if value.is_scalar:
        return value
    if value.shape:
        builder.reject(codes.RANK, f"{what} is one scalar, and this is {describe(builder, value)}")
    return builder.one(Pick(value, Relation((), ())), Scalar(value.dtype))


def tensor(builder: Builder, operand: Operand, what: str) -> Value:
    """A tensor value, for the operations that scalars do not have."""
    value = as_value(builder, operand)
    if value.is_scalar:
        help = "a scalar has no axes: I.full(shape, value, dtype) makes a tensor of it"
        message = f"{what} needs a tensor, and this is {describe(builder, value)}"
        builder.reject(codes.TENSOR_EXPECTED, message, help)
    return value


def reshape(builder: Builder, operand: Operand, shape: Operand) -> Value:
    value = tensor(builder, operand, "I.reshape")
    return reshaped(builder, value, _resolve(builder, value, shape_items(shape)))


def reshaped(builder: Builder, value: Value, wanted: Shape) -> Value:
    if wanted == value.shape:
        return value
    _check_count(builder, value.shape, wanted)
    return builder.one(Reshape(value), Tensor(value.dtype, wanted))


def _resolve(builder: Builder, value: Value, items: tuple[Operand, ...]) -> Shape:
    """The shape with its inferred extent filled in."""
    inferred = [position for position, item in enumerate(items) if _is_inferred(item)]
    if not inferred:
        return tuple(extent_of(builder, item) for item in items)
    if len(inferred) > 1:
        builder.reject(codes.INFERRED_EXTENT, "at most one extent of a reshape can be inferred", at="shape")
    known = {position: extent_of(builder, item) for position, item in enumerate(items) if position not in inferred}
    count, rest = product(value.shape), product(known.values())
    if rest.constant == 0:
        builder.reject(
            codes.INFERRED_EXTENT, "an extent beside an extent of 0 cannot be inferred", "write it out", at="shape"
        )
    known[inferred[0]] = floor_divide(count, rest)
    return tuple(known[position] for position in range(len(items)))


def _is_inferred(item: Operand) -> bool:
    return item == Keyword("...") if isinstance(item, Keyword) else static_integer(item) == -1


def _check_count(builder: Builder, given: Shape, wanted: Shape) -> None:
    """Equal counts, or counts that the host can compare before the launch."""
    surplus = product(given) - product(wanted)
    if surplus.constant == 0:
        return
    message = f"reshaping {show_shape(builder, given)} to {show_shape(builder, wanted)} changes the element count"
    if surplus.constant is not None:
        builder.reject(codes.RESHAPE_COUNT, message, at="shape")
    if any(isinstance(atom, Value) for atom in surplus.atoms()):
        help = "the counts must follow from the extents: use v.shape[...] or I.end of the same domain"
        builder.reject(codes.RESHAPE_COUNT, f"{message}, as far as can be proven", help, at="shape")
    if not any(isinstance(atom, Symbol) for atom in surplus.atoms()):
        builder.reject(codes.RESHAPE_COUNT, message, at="shape")
    counts = f"{show_extent(builder, product(given))} == {show_extent(builder, product(wanted))}"
    builder.note(
        codes.CHECKED_ON_HOST, f"{counts} is checked before each launch: it does not follow from the annotations"
    )


def transpose(builder: Builder, operand: Operand, permutation: Operand) -> Value:
    value = tensor(builder, operand, "I.transpose")
    rank = len(value.shape)
    order = tuple(reversed(range(rank)))
    if not isinstance(permutation, Keyword):
        order = tuple(axis_of(builder, item, value.shape) for item in shape_items(permutation))
    if sorted(order) != list(range(rank)):
        message = f"a permutation of {show_shape(builder, value.shape)} names each of its {rank} axes once"
        builder.reject(codes.PERMUTATION, message, f"for example {tuple(reversed(range(rank)))}", at="permutation")
    return builder.one(Transpose(value, order), Tensor(value.dtype, tuple(value.shape[axis] for axis in order)))


def join(builder: Builder, lhs: Operand, rhs: Operand) -> Value:
    left = tensor(builder, lhs, "I.join")
    right = tensor(builder, as_value(builder, rhs, left.dtype), "I.join")
    if left.shape != right.shape:
        shapes = f"{show_shape(builder, left.shape)} and {show_shape(builder, right.shape)}"
        builder.reject(codes.JOIN, f"I.join takes two tensors of one shape, and these are {shapes}")
    return builder.one(Join(left, right), Tensor(left.dtype, (*left.shape, number(2))))
