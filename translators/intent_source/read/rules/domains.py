"""Domains, subregions, ranges, ragged rows, and their coordinates."""

from __future__ import annotations

from collections.abc import Sequence

from intent import dtypes
from translators.algebra.polynomial import Polynomial, ceiling_divide, number
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    Keyword,
    Literal,
    Operand,
    Product,
    Ragged,
    RaggedRow,
    ShapeOf,
    Slice,
)
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, show_extent
from translators.intent_source.read.rules.literals import as_value, instantiate, is_none, static_integer, static_number
from translators.logical.program import Cast, Indices, Value
from translators.logical.types import Buffer, Domain, Scalar, Tensor, View


# ------------------------------------------------------------------------------------------------------------- bounds
def index_scalar(builder: Builder, extent: Polynomial) -> Value:
    """An extent, or what arithmetic makes of extents, as a value."""
    if extent.constant is not None:
        return instantiate(builder, Literal(extent.constant), dtypes.index)
    return builder.size(extent)


def bound(builder: Builder, operand: Operand, what: str, at: str | None = None) -> Value:
    """A bound of a domain, range or slice: any integer scalar, as index; of a call, its argument for `at`."""
    if isinstance(static_number(operand), float) or (not isinstance(operand, Value) and static_number(operand) is None):
        builder.reject(codes.BOUND, f"{what} is an integer, and this is {describe(builder, operand)}", at=at)
    value = as_value(builder, operand, None if isinstance(operand, Value) else dtypes.index)
    if not value.is_scalar:
        help = "take one element, for example t[0]" if value.shape else "take its scalar: t[()]"
        builder.reject(codes.BOUND, f"{what} is an integer scalar, and this is {describe(builder, value)}", help, at=at)
    if not value.dtype.is_integer:
        help = "write I.cast(..., I.index)"
        builder.reject(codes.BOUND, f"{what} is an integer, and this is {value.dtype.name}", help, at=at)
    return value if value.dtype == dtypes.index else _as_index(builder, value)


def _as_index(builder: Builder, value: Value) -> Value:
    """A scalar as index, converted once where it can be: bounds that are one value are one extent."""
    block, known = builder.indices.get(value, (None, None))
    if block is None or known is None or not builder.is_open(block):
        known = builder.one(Cast(value), Scalar(dtypes.index))
        builder.indices[value] = builder.statements, known
    return known


def between(builder: Builder, begin: Value, end: Value, step: int = 1, parent: Domain | None = None) -> Domain:
    return Domain(begin, end, step, builder.polynomial(begin), builder.polynomial(end), None, parent)


def whole(builder: Builder, extent: Polynomial) -> Domain:
    """The domain that `:` stands for."""
    return between(builder, builder.constant(0, dtypes.index), index_scalar(builder, extent))


# ------------------------------------------------------------------------------------------------------------ domains
def domain(builder: Builder, start: Operand, stop: Operand, step: Operand) -> Domain:
    begin = bound(builder, start, "the start of a domain", "start")
    end = bound(builder, stop, "the end of a domain", "stop")
    return between(builder, begin, end, _step(builder, step))


def range_domain(builder: Builder, arguments: Sequence[Operand]) -> Domain:
    """`range(stop)`, `range(start, stop)` or `range(start, stop, step)`."""
    match tuple(arguments):
        case (stop,):
            return domain(builder, Literal(0), stop, Literal(1))
        case (start, stop):
            return domain(builder, start, stop, Literal(1))
        case (start, stop, step):
            return domain(builder, start, stop, step)
        case _:
            builder.reject(codes.BAD_CALL, f"range takes one to three arguments, {len(arguments)} given")


def _step(builder: Builder, operand: Operand) -> int:
    step = static_integer(operand)
    if step is None or step < 1:
        message = f"a step is a positive compile-time integer, and this is {describe(builder, operand)}"
        help = "walk backwards with arithmetic on a forward index: i = n - 1 - k"
        builder.reject(codes.STEP, message, help if step is not None else None, at="step")
    return step


def iteration_domain(builder: Builder, operand: Operand) -> Domain:
    """What a `for` loop runs over."""
    match operand:
        case Domain():
            return operand
        case RaggedRow(domain=row):
            return row
        case Literal() | Value(is_scalar=True):
            builder.reject(codes.NOT_ITERABLE, f"{describe(builder, operand)} cannot be iterated", "write range(n)")
        case Ragged():
            builder.reject(codes.NOT_ITERABLE, "a ragged domain is iterated row by row", "write `for t in rows[g]:`")
        case _:
            help = "loop over its coordinates: `for i in range(v.shape[0]):`"
            builder.reject(codes.NOT_ITERABLE, f"{describe(builder, operand)} cannot be iterated", help)


def as_domain(builder: Builder, operand: Operand, what: str) -> Domain:
    match operand:
        case Domain():
            return operand
        case RaggedRow(domain=row):
            return row
        case _:
            message = f"{what} takes a domain, and this is {describe(builder, operand)}"
            builder.reject(codes.DOMAIN_EXPECTED, message, "write I.domain(start, stop)")


def subregion(builder: Builder, source: Domain, items: tuple[Operand, ...]) -> Domain:
    """`source[begin:end]`: the source's coordinates in that range, which lies within it; none is left out."""
    if len(items) != 1 or not isinstance(items[0], Slice):
        help = "write I.indices(domain)[k] for a coordinate, domain[begin:end] for a subregion"
        builder.reject(codes.SUBREGION, "a domain is sliced as domain[begin:end]", help)
    part = items[0]
    if part.step is not None and static_integer(part.step) != 1:
        builder.reject(codes.SUBREGION, "a subregion is contiguous", "I.domain(begin, end, step) takes every n-th")
    begin = source.begin if part.start is None else bound(builder, part.start, "the start of a subregion")
    end = source.end if part.stop is None else bound(builder, part.stop, "the end of a subregion")
    _check_within(builder, between(builder, begin, end), source)
    if source.step != 1 and part.start is not None:
        begin = _next_coordinate(builder, source, begin)
    return between(builder, begin, end, source.step, source)


def _next_coordinate(builder: Builder, source: Domain, start: Value) -> Value:
    """The first coordinate of the source from `start` on."""
    steps = ceiling_divide(builder.polynomial(start) - source.begin_polynomial, number(source.step))
    return index_scalar(builder, source.begin_polynomial + steps * source.step)


def _check_within(builder: Builder, region: Domain, source: Domain) -> None:
    before = (source.begin_polynomial - region.begin_polynomial).constant
    after = (region.end_polynomial - source.end_polynomial).constant
    negative = (region.end_polynomial - region.begin_polynomial).constant
    if (before is None or before <= 0) and (after is None or after <= 0) and (negative is None or negative >= 0):
        return
    bounds = f"[{show_extent(builder, region.begin_polynomial)}, {show_extent(builder, region.end_polynomial)})"
    limits = f"[{show_extent(builder, source.begin_polynomial)}, {show_extent(builder, source.end_polynomial)})"
    help = "bounds are the source's coordinates and are never clamped or counted from the end: use I.minimum, I.end"
    builder.reject(codes.OUTSIDE_SOURCE, f"the subregion {bounds} is not within its source {limits}", help)


# -------------------------------------------------------------------------------------------------------- coordinates
def indices(builder: Builder, region: Operand) -> Operand:
    """The coordinates of a domain; of a tuple of domains, a tuple of them."""
    if isinstance(region, Product):
        return Product(tuple(indices(builder, item) for item in region.items))
    axis = as_domain(builder, region, "I.indices")
    return builder.one(Indices(axis), Tensor(dtypes.index, (axis.extent,)))


def end(builder: Builder, region: Operand) -> Value:
    return as_domain(builder, region, "I.end").end


# ------------------------------------------------------------------------------------------------------------- ragged
def ragged(builder: Builder, outer: Operand, members: Operand, offsets: Operand, mapping: Operand) -> Ragged:
    for operand, what in ((outer, "outer"), (members, "members")):
        if not isinstance(operand, Domain):
            message = f"I.ragged takes a domain as {what}, and this is {describe(builder, operand)}"
            builder.reject(codes.RAGGED, message, "write I.domain(0, n)")
    _check_integers(builder, offsets, "offsets")
    if not is_none(mapping):
        _check_integers(builder, mapping, "indices")
    assert isinstance(outer, Domain) and isinstance(members, Domain)
    return Ragged(outer, members, offsets, None if is_none(mapping) else mapping)


def _check_integers(builder: Builder, operand: Operand, what: str) -> None:
    suits = isinstance(operand, View | Buffer | Value) and operand.dtype.is_integer and len(operand.shape) == 1
    if not suits:
        message = f"I.ragged takes integers of rank one as {what}, and this is {describe(builder, operand)}"
        builder.reject(codes.RAGGED, message)


def ragged_row(builder: Builder, source: Ragged, items: tuple[Operand, ...]) -> RaggedRow:
    """`rows[g]`: members[offsets[g]:offsets[g + 1]]. The same row twice is one set of members."""
    if len(items) != 1 or isinstance(items[0], Slice | Keyword | ShapeOf):
        builder.reject(codes.RAGGED, "a ragged domain is indexed by one integer", "write rows[g]")
    position = bound(builder, items[0], "the row of a ragged domain")
    key = (source, builder.polynomial(position))
    known = builder.ragged_rows.get(key)
    if known is not None and builder.is_open(known[0]) and isinstance(known[1], RaggedRow):
        return known[1]
    row = _read_row(builder, source, position)
    if isinstance(source.offsets, Value) or (isinstance(source.offsets, View) and not source.offsets.writable):
        builder.ragged_rows[key] = (builder.statements, row)
    return row


def _read_row(builder: Builder, source: Ragged, position: Value) -> RaggedRow:
    from translators.intent_source.read.rules.memory import subscript
    from translators.intent_source.read.rules.pointwise import binary

    following = binary(builder, "add", position, Literal(1))
    begin = bound(builder, subscript(builder, source.offsets, (position,)), "an offset")
    end = bound(builder, subscript(builder, source.offsets, (following,)), "an offset")
    return RaggedRow(source, between(builder, begin, end, 1, source.members))


def members(builder: Builder, region: Operand) -> Value:
    """The mapped members of a ragged row, or the coordinates of an unmapped one."""
    from translators.intent_source.read.rules.memory import subscript
    from translators.intent_source.read.rules.pointwise import cast

    if not isinstance(region, RaggedRow) or region.ragged.indices is None:
        axis = as_domain(builder, region, "I.members")
        return builder.one(Indices(axis), Tensor(dtypes.index, (axis.extent,)))
    return cast(builder, subscript(builder, region.ragged.indices, (region,)), dtypes.index)
