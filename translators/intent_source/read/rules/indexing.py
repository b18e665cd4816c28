"""Index relations: how the items of a subscript map the axes of a result to the axes of what is indexed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from intent import dtypes
from intent.dtypes import DType
from intent.records import dataclass
from translators.algebra.polynomial import Polynomial, number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    Keyword,
    Operand,
    Product,
    RaggedRow,
    Slice,
)
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, show_axes, show_extent, show_shape
from translators.intent_source.read.rules.domains import between, bound, index_scalar, whole
from translators.intent_source.read.rules.literals import static_integer, static_number
from translators.intent_source.read.rules.shapes import Shape, broadcast
from translators.logical.program import Along, At, Gathered, IndexItem, NewAxis, Relation, Value
from translators.logical.types import Domain, Scalar, Tensor, Type

_FULL = Slice(None, None, None)


def relation(builder: Builder, source: Shape, items: tuple[Operand, ...], written: bool = False) -> Relation:
    """The relation that `items` describe over an array of shape `source`."""
    if written and any(_is_new_axis(item) for item in items):
        message = "None makes a new axis of what is read; a destination has no new axes"
        builder.reject(codes.NEW_AXIS_IN_WRITE, message, "leave it out: the value is broadcast to the place")
    parts: list[IndexItem] = []
    axis = 0
    for item in _expanded(builder, source, items):
        if _is_new_axis(item):
            parts.append(NewAxis())
            continue
        parts.append(_part(builder, item, source[axis], axis))
        axis += 1
    return _shaped(builder, tuple(parts))


def result_type(found: Relation, dtype: DType) -> Type:
    """A scalar when every axis is dropped and none is made."""
    if all(isinstance(item, At) for item in found.items):
        return Scalar(dtype)
    return Tensor(dtype, found.shape)


# -------------------------------------------------------------------------------------------------------------- items
def _help_with_indices(source: Shape, items: tuple[Operand, ...]) -> str:
    if not source:
        return "a rank-zero place is indexed with [()]"
    if any(item == _FULL for item in items):
        return "a `:` keeps an axis that is there; v[:, None] adds one to a value"
    return "there is one index for each axis at most"


def _expanded(builder: Builder, source: Shape, items: tuple[Operand, ...]) -> Iterator[Operand]:
    """`...` and missing trailing axes written out as `:`."""
    ellipses = sum(_is_ellipsis(item) for item in items)
    used = len(items) - ellipses - sum(_is_new_axis(item) for item in items)
    if used > len(source):
        message = f"{used} indices for {show_shape(builder, source)}, which has {show_axes(len(source))}"
        builder.reject(codes.TOO_MANY_INDICES, message, _help_with_indices(source, items))
    if ellipses > 1:
        builder.reject(codes.INDEX_KIND, "at most one `...` in a subscript")
    missing = [_FULL] * (len(source) - used)
    for item in items:
        if _is_ellipsis(item):
            yield from missing
        else:
            yield item
    if not ellipses:
        yield from missing


def _is_new_axis(item: Operand) -> bool:
    return isinstance(item, Keyword) and item.name == "None"


def _is_ellipsis(item: Operand) -> bool:
    return isinstance(item, Keyword) and item.name == "..."


def _part(builder: Builder, item: Operand, extent: Polynomial, axis: int) -> IndexItem:
    match item:
        case Domain():
            return Along(_in_range(builder, item, extent))
        case RaggedRow(domain=row):
            return Along(row)
        case Slice():
            return Along(_slice(builder, item, extent))
        case Value():
            return _value_part(builder, item)
        case _ if static_number(item) is not None:
            return At(_static_position(builder, item, extent, axis))
        case _:
            _reject_index(builder, item)


def _reject_index(builder: Builder, item: Operand) -> NoReturn:
    help = "an index is an integer, an integer tensor, a domain, a slice, `...` or None"
    if isinstance(item, Product):
        help = "write the indices side by side: x[i, j]"
    builder.reject(codes.INDEX_KIND, f"{describe(builder, item)} is not an index", help)


def _value_part(builder: Builder, value: Value) -> IndexItem:
    what = describe(builder, value)
    if value.dtype.kind == "bool":
        help = "test a scalar with `if` inside I.parallel, or choose values with I.select"
        builder.reject(codes.INDEX_KIND, f"an index is an integer, and this is {what}", help)
    if not value.dtype.is_integer:
        builder.reject(codes.INDEX_KIND, f"an index is an integer, and this is {what}", "write I.cast(..., I.index)")
    if value.is_scalar:
        return At(value)
    if not value.shape:
        builder.reject(codes.RANK_ZERO, "a rank-zero tensor is not an index", "take its scalar: t[()]")
    return Gathered(value)


def _static_position(builder: Builder, item: Operand, extent: Polynomial, axis: int) -> Value:
    """A compile-time index; a negative one counts from the end."""
    position = static_integer(item)
    if position is None:
        builder.reject(codes.INDEX_KIND, f"an index is an integer, and this is {describe(builder, item)}")
    size = extent.constant
    if size is not None and not -size <= position < size:
        message = f"index {position} is out of bounds: axis {axis} has {size} elements"
        builder.reject(codes.INDEX_RANGE, message)
    return index_scalar(builder, extent + position if position < 0 else number(position))


def _in_range(builder: Builder, region: Domain, extent: Polynomial) -> Domain:
    """The domain itself, unless numbers show that it leaves the axis."""
    beyond = (region.end_polynomial - extent).constant
    first = region.begin_polynomial.constant
    if extent.constant is not None and beyond is not None and beyond > 0 and region.extent.constant:
        message = f"the domain ends at {show_extent(builder, region.end_polynomial)}, beyond the axis's {extent}"
        builder.reject(codes.INDEX_RANGE, message, "domains hold coordinates of the indexed axis, from 0")
    if first is not None and first < 0 and region.extent.constant:
        builder.reject(codes.INDEX_RANGE, f"the domain begins at {first}, before the axis")
    return region


def _slice(builder: Builder, item: Slice, extent: Polynomial) -> Domain:
    """`begin:end`, a static negative bound counted from the end; nothing is clamped."""
    if item.step is not None and static_integer(item.step) != 1:
        help = "take every n-th element with I.domain(begin, end, n) as the index"
        builder.reject(codes.SLICE_STEP, "a slice is contiguous", help)
    if item.start is None and item.stop is None:
        return whole(builder, extent)
    begin = builder.constant(0, dtypes.index) if item.start is None else _slice_bound(builder, item.start, extent)
    end = index_scalar(builder, extent) if item.stop is None else _slice_bound(builder, item.stop, extent)
    region = between(builder, begin, end)
    _check_slice(builder, region, extent)
    return region


def _slice_bound(builder: Builder, operand: Operand, extent: Polynomial) -> Value:
    position = static_integer(operand)
    if position is not None and position < 0:
        return index_scalar(builder, extent + position)
    return bound(builder, operand, "a bound of a slice")


def _check_slice(builder: Builder, region: Domain, extent: Polynomial) -> None:
    begin = region.begin_polynomial.constant
    beyond = (region.end_polynomial - extent).constant
    length = region.extent.constant
    if (begin is not None and begin < 0) or (beyond is not None and beyond > 0) or (length is not None and length < 0):
        bounds = f"{show_extent(builder, region.begin_polynomial)}:{show_extent(builder, region.end_polynomial)}"
        message = f"the slice {bounds} is not within the axis's {show_extent(builder, extent)} elements"
        builder.reject(codes.INDEX_RANGE, message, "a slice is never clamped")


# -------------------------------------------------------------------------------------------------------------- shape
@dataclass(slots=True)
class _Joint:
    """The place and shape that all tensor indices share."""

    first: int
    shape: Shape


def _shaped(builder: Builder, items: tuple[IndexItem, ...]) -> Relation:
    joint = _joint(builder, items)
    shape: list[Polynomial] = []
    for position, item in enumerate(items):
        match item:
            case Along(domain=axis):
                shape.append(axis.extent)
            case NewAxis():
                shape.append(number(1))
            case Gathered() if joint is not None and position == joint.first:
                shape.extend(joint.shape)
            case _:
                pass
    return Relation(items, tuple(shape), joint.shape if joint else ())


def _joint(builder: Builder, items: tuple[IndexItem, ...]) -> _Joint | None:
    positions = [position for position, item in enumerate(items) if isinstance(item, Gathered)]
    if not positions:
        return None
    between_them = items[positions[0] : positions[-1] + 1]
    if any(isinstance(item, Along | NewAxis) for item in between_them):
        help = "transpose first so that the tensor indices are neighbours, or write a tensor index for that axis too"
        builder.reject(codes.APART, "a `:`, domain or None stands between two tensor indices", help)
    tensors = [item.index for item in between_them if isinstance(item, Gathered)]
    return _Joint(positions[0], broadcast(builder, tensors, "the tensor indices", codes.JOINT_SHAPE))
