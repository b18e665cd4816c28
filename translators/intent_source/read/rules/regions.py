"""Region folds and scans: list homomorphisms over contiguous slices of one axis."""

from __future__ import annotations

from intent.records import dataclass
from translators.algebra.polynomial import Polynomial
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import Operand, Product
from translators.intent_source.read.rules import codes
from translators.intent_source.read.rules.describe import describe, show_extent
from translators.intent_source.read.rules.lambdas import captured, helper, parameters_like, schema, with_results
from translators.intent_source.read.rules.literals import as_value
from translators.intent_source.read.rules.products import flatten, rebuild, same_nesting, show_schema
from translators.intent_source.read.rules.shapes import axis_of, tensor
from translators.logical.program import Block, Full, Lambda, RegionFold, RegionScan, Value
from translators.logical.types import Tensor, Type


@dataclass(frozen=True, slots=True)
class Source:
    """The sliced tensors, the axis they share, its extent, and the extent of one slice."""

    operand: Operand
    values: tuple[Value, ...]
    axis: int
    extent: Polynomial
    slice_extent: Polynomial

    @property
    def slice_types(self) -> tuple[Type, ...]:
        return tuple(Tensor(value.dtype, _replaced(value.shape, self.axis, self.slice_extent)) for value in self.values)


@dataclass(frozen=True, slots=True)
class Helpers:
    """The helpers of a region operation and the operands they all get."""

    name: str
    summarize: Operand
    combine: Operand
    identity: Operand
    operands: Operand


@dataclass(frozen=True, slots=True)
class Summary:
    """A traced summarize and combine, with identities of the summary's types."""

    summarize: Lambda
    combine: Lambda
    identities: tuple[Value, ...]
    operands: tuple[Value, ...]

    @property
    def types(self) -> tuple[Type, ...]:
        return tuple(identity.type for identity in self.identities)


def region_fold(builder: Builder, source: Operand, axis: Operand, helpers: Helpers) -> Operand:
    sliced = _source(builder, source, axis, helpers.name)
    found = _summary(builder, sliced, helpers)
    op = RegionFold(
        sliced.values,
        sliced.axis,
        sliced.slice_extent,
        found.summarize,
        found.combine,
        found.identities,
        found.operands,
    )
    return rebuild(helpers.identity, builder.emit(op, *found.types))


def region_scan(
    builder: Builder, source: Operand, axis: Operand, helpers: Helpers, initial: Operand, apply: Operand, emit: Operand
) -> Operand:
    """(outputs, final state)"""
    sliced = _source(builder, source, axis, helpers.name)
    found = _summary(builder, sliced, helpers)
    state = _initial_state(builder, found, helpers, initial)
    types = tuple(value.type for value in state)
    applied = _apply(builder, found, helpers, initial, types, apply)
    emitted, outputs = _emit(builder, sliced, helpers, initial, types, emit)
    op = RegionScan(
        sliced.values,
        sliced.axis,
        sliced.slice_extent,
        found.summarize,
        found.combine,
        found.identities,
        applied,
        emitted,
        state,
        found.operands,
        len(emitted.results),
    )
    results = builder.emit(op, *(_gathered(builder, sliced, value) for value in emitted.results), *types)
    count = len(emitted.results)
    return Product((rebuild(outputs, results[:count]), rebuild(initial, results[count:])))


# ------------------------------------------------------------------------------------------------------------- source
def _source(builder: Builder, operand: Operand, axis: Operand, name: str) -> Source:
    values = tuple(tensor(builder, leaf, name) for leaf in flatten(operand))
    if not values:
        builder.reject(codes.SOURCES, f"{name} needs at least one source tensor")
    along = axis_of(builder, axis, min((value.shape for value in values), key=len))
    extent = values[0].shape[along]
    for value in values[1:]:
        if value.shape[along] != extent:
            extents = f"{show_extent(builder, extent)} and {show_extent(builder, value.shape[along])}"
            builder.reject(codes.SOURCES, f"the sources of {name} differ along axis {along}: {extents}")
    return Source(operand, values, along, extent, builder.fresh_extent())


def _slice_arguments(builder: Builder, source: Source) -> tuple[tuple[Value, ...], tuple[Operand, ...]]:
    """Parameters for one slice, and how a helper takes them: the parts of a tuple are separate arguments."""
    parameters, operand = parameters_like(builder, source.operand, source.slice_types)
    separate = isinstance(operand, Product) and operand.names is None
    return parameters, operand.items if separate and isinstance(operand, Product) else (operand,)


def _replaced(shape: tuple[Polynomial, ...], axis: int, extent: Polynomial) -> tuple[Polynomial, ...]:
    return (*shape[:axis], extent, *shape[axis + 1 :])


# ------------------------------------------------------------------------------------------------------------ summary
def _summary(builder: Builder, source: Source, helpers: Helpers) -> Summary:
    slices, slice_arguments = _slice_arguments(builder, source)
    operands, parameters, arguments = captured(builder, helpers.operands)
    what = f"summarize of {helpers.name}"
    function = helper(builder, helpers.summarize, what)
    block, result = builder.trace(function, (*slice_arguments, *arguments), what)
    block, results, identities = _against_identity(builder, block, result, helpers, what)
    _check_boundary(builder, source, results, what)
    summarize = Lambda((*slices, *parameters), block, results)
    types = tuple(identity.type for identity in identities)
    return Summary(summarize, _combine(builder, helpers, types), identities, operands)


def _against_identity(
    builder: Builder, block: Block, result: Operand, helpers: Helpers, what: str
) -> tuple[Block, tuple[Value, ...], tuple[Value, ...]]:
    """The summary and the identity as values of the same types."""
    if not same_nesting(result, helpers.identity):
        schemas = f"{show_schema(builder, result)}, and the identity is {show_schema(builder, helpers.identity)}"
        builder.reject(codes.SUMMARY, f"{what} gives {schemas}")
    known = tuple(leaf.type if isinstance(leaf, Value) else None for leaf in flatten(result))
    pairs = zip(flatten(helpers.identity), known, strict=True)
    identities = tuple(_identity(builder, leaf, type) for leaf, type in pairs)
    types = tuple(identity.type for identity in identities)
    block, results = with_results(
        builder, block, lambda: schema(builder, result, helpers.identity, types, what, codes.SUMMARY)
    )
    return block, results, identities


def _identity(builder: Builder, leaf: Operand, type: Type | None) -> Value:
    """The identity's component; a scalar fills the summary's shape."""
    value = as_value(builder, leaf, None if isinstance(leaf, Value) or type is None else type.dtype)
    if isinstance(type, Tensor) and value.is_scalar and value.dtype == type.dtype:
        return builder.one(Full(value), type)
    return value


def _check_boundary(builder: Builder, source: Source, results: tuple[Value, ...], what: str) -> None:
    atom = source.slice_extent.atom
    for value in results:
        if any(other == atom for extent in value.shape for other in extent.atoms()):
            message = f"{what} gives {describe(builder, value)}, whose shape is the slice's"
            builder.reject(codes.SLICE_BOUNDARY, message, "reduce the slice's axis: where slices end is not observable")


def _combine(builder: Builder, helpers: Helpers, types: tuple[Type, ...]) -> Lambda:
    left, first = parameters_like(builder, helpers.identity, types)
    right, second = parameters_like(builder, helpers.identity, types)
    what = f"combine of {helpers.name}"
    block, result = builder.trace(helper(builder, helpers.combine, what), (first, second), what)
    block, results = with_results(
        builder, block, lambda: schema(builder, result, helpers.identity, types, what, codes.SUMMARY)
    )
    return Lambda((*left, *right), block, results)


# --------------------------------------------------------------------------------------------------------------- scan
def _initial_state(builder: Builder, found: Summary, helpers: Helpers, initial: Operand) -> tuple[Value, ...]:
    leaves = flatten(initial)
    if same_nesting(initial, helpers.identity):
        return tuple(_identity(builder, leaf, type) for leaf, type in zip(leaves, found.types, strict=True))
    return tuple(as_value(builder, leaf) for leaf in leaves)


def _apply(
    builder: Builder, found: Summary, helpers: Helpers, initial: Operand, types: tuple[Type, ...], apply: Operand
) -> Lambda:
    """state' = apply(summary, state)"""
    summary, first = parameters_like(builder, helpers.identity, found.types)
    state, second = parameters_like(builder, initial, types)
    what = f"apply of {helpers.name}"
    block, result = builder.trace(helper(builder, apply, what), (first, second), what)
    block, results = with_results(builder, block, lambda: schema(builder, result, initial, types, what, codes.SUMMARY))
    return Lambda((*summary, *state), block, results)


def _emit(
    builder: Builder, source: Source, helpers: Helpers, initial: Operand, types: tuple[Type, ...], emit: Operand
) -> tuple[Lambda, Operand]:
    """emit(slice, incoming state, *operands) and the operand it gives."""
    slices, slice_arguments = _slice_arguments(builder, source)
    state, incoming = parameters_like(builder, initial, types)
    _, parameters, arguments = captured(builder, helpers.operands)
    what = f"emit of {helpers.name}"
    function = helper(builder, emit, what)
    block, result = builder.trace(function, (*slice_arguments, incoming, *arguments), what)
    block, results = with_results(builder, block, lambda: tuple(as_value(builder, leaf) for leaf in flatten(result)))
    return Lambda((*slices, *state, *parameters), block, results), result


def _gathered(builder: Builder, source: Source, value: Value) -> Type:
    """The type of an output over all slices: the slice's extent becomes the axis's."""
    axes = [axis for axis, extent in enumerate(value.shape) if extent == source.slice_extent]
    if axes != [source.axis]:
        message = f"emit gives {describe(builder, value)}; it must have the slice's members at axis {source.axis}"
        builder.reject(codes.SUMMARY, message)
    return Tensor(value.dtype, _replaced(value.shape, source.axis, source.extent))
