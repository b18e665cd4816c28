"""Reads and writes: subscripts, gather, store, buffers, scatters, and promises about bounds."""

from __future__ import annotations

from typing import NoReturn

from intent import dtypes
from translators.intent_source.read.builder import Builder
from translators.intent_source.read.operands import (
    Function,
    IntrinsicName,
    Keyword,
    Literal,
    Operand,
    Product,
    Ragged,
    RaggedRow,
    ShapeOf,
    Slice,
)
from translators.intent_source.read.rules import codes, indexing
from translators.intent_source.read.rules.describe import describe, show_shape
from translators.intent_source.read.rules.domains import indices, ragged_row, subregion
from translators.intent_source.read.rules.literals import as_value, static_integer, static_number
from translators.intent_source.read.rules.shapes import Shape, axis_of, fits, shape_of
from translators.logical.program import (
    Allocate,
    AssumeInBounds,
    BlockParameter,
    Let,
    Pick,
    Pointwise,
    Read,
    Relation,
    Scatter,
    Value,
    Write,
)
from translators.logical.types import Buffer, Domain, Memory, Scalar, View

NOTHING = Keyword("None")


# -------------------------------------------------------------------------------------------------------------- reads
def subscript(builder: Builder, base: Operand, items: tuple[Operand, ...]) -> Operand:
    match base:
        case View() | Buffer() | Value():
            return read(builder, base, items)
        case Domain():
            return subregion(builder, base, items)
        case RaggedRow(domain=row):
            return subregion(builder, row, items)
        case Ragged():
            return ragged_row(builder, base, items)
        case ShapeOf(extents=extents):
            taken = _component(builder, extents, items, "a shape")
            return ShapeOf(taken) if isinstance(taken, tuple) else taken  # type: ignore[arg-type]
        case Product(items=components):
            taken = _component(builder, components, items, describe(builder, base))
            return Product(taken) if isinstance(taken, tuple) else taken
        case _:
            builder.reject(codes.VALUE_EXPECTED, f"{describe(builder, base)} cannot be indexed")


def _component(
    builder: Builder, components: tuple[Operand, ...], items: tuple[Operand, ...], what: str
) -> Operand | tuple[Operand, ...]:
    """A compile-time component, or a run of them, of a tuple or shape."""
    if len(items) == 1 and isinstance(items[0], Slice):
        part = items[0]
        bounds = [
            None if edge is None else _position(builder, edge, what) for edge in (part.start, part.stop, part.step)
        ]
        return components[slice(*bounds)]
    position = _position(builder, items[0], what) if len(items) == 1 else None
    if position is None or not -len(components) <= position < len(components):
        builder.reject(codes.COMPONENT, f"{what} has {len(components)} components, and this takes another")
    return components[position]


def _position(builder: Builder, operand: Operand, what: str) -> int:
    position = static_integer(operand)
    if position is None:
        message = f"{what} is indexed by compile-time integers, and this is {describe(builder, operand)}"
        builder.reject(codes.COMPONENT, message)
    return position


def read(
    builder: Builder,
    source: Memory | Value,
    items: tuple[Operand, ...],
    valid: Value | None = None,
    fill: Value | None = None,
) -> Value:
    """Elements of memory or of a tensor value; the whole of a value is the value."""
    if isinstance(source, Value) and source.is_scalar:
        help = "a scalar has no axes: use it as it is"
        builder.reject(codes.SCALAR_HAS_NO_SHAPE, f"{describe(builder, source)} cannot be indexed", help)
    found = indexing.relation(builder, source.shape, items)
    _check_guard(builder, found.shape, valid, fill)
    op = Pick(source, found, valid, fill) if isinstance(source, Value) else Read(source, found, valid, fill)
    return builder.one(op, indexing.result_type(found, source.dtype))


def _check_guard(builder: Builder, shape: Shape, *guards: Value | None) -> None:
    for name, guard in zip(("valid", "fill"), guards, strict=True):
        if guard is not None:
            with builder.at(builder.places.get(name, builder.span)):
                fits(builder, guard, shape, "valid and fill never enlarge the result", codes.VALID_OR_FILL)


def gather(builder: Builder, source: Operand, index: Operand, valid: Operand, fill: Operand) -> Value:
    if not isinstance(source, View | Buffer | Value):
        message = f"I.gather reads a view, buffer or tensor, and this is {describe(builder, source)}"
        builder.reject(codes.VALUE_EXPECTED, message)
    condition = None if isinstance(valid, Literal) and valid.value is True else as_value(builder, valid)
    if condition is not None and condition.dtype.kind != "bool":
        message = f"valid is bool, and this is {describe(builder, condition)}"
        builder.reject(codes.VALID_OR_FILL, message, "compare it, for example j < n", at="valid")
    return read(builder, source, index_items(index), condition, _fill(builder, source, fill))


def _fill(builder: Builder, source: Memory | Value, fill: Operand) -> Value | None:
    """The fill in the source's dtype; None for the typed zero, which is the default."""
    match fill:
        case Literal(value=int() as zero) if not zero and (zero is not False or source.dtype.kind == "bool"):
            return None
        case _:
            pass
    value = as_value(builder, fill, None if isinstance(fill, Value) else source.dtype)
    if value.dtype != source.dtype:
        message = f"fill has the source's dtype {source.dtype.name}, and this is {value.dtype.name}"
        builder.reject(codes.VALID_OR_FILL, message, f"write I.cast(..., {source.dtype!r})", at="fill")
    return value


def index_items(index: Operand) -> tuple[Operand, ...]:
    """The `index` argument of gather, store, scatters and atomics: a tuple as in a subscript, or one index."""
    return index.items if isinstance(index, Product) and index.names is None else (index,)


def mutable_load(builder: Builder, target: Operand, index: Operand) -> Value:
    memory = writable(builder, target, "I.mutable_load", codes.WRITE_TO_VALUE)
    return read(builder, memory, index_items(index))


# ------------------------------------------------------------------------------------------------------------- writes
def assign(builder: Builder, base: Operand, items: tuple[Operand, ...], value: Operand) -> None:
    """`base[items] = value`."""
    memory = writable(builder, base, "an assignment", codes.WRITE_TO_VALUE)
    no_effect_in_pure(builder, "a write")
    found = indexing.relation(builder, memory.shape, items, written=True)
    stored = stored_value(builder, memory, found, value)
    builder.statement(Write(memory, found, stored, builder.span))


def store(builder: Builder, target: Operand, index: Operand, value: Operand) -> Keyword:
    assign(builder, target, index_items(index), value)
    return NOTHING


def writable(builder: Builder, target: Operand, what: str, code: str) -> Memory:
    match target:
        case View(direction="In", name=name):
            message = f"`{name}` is an In view: it is read-only"
            builder.reject(codes.READ_ONLY, message, "declare it I.InOut, or write to an I.Out view")
        case View() | Buffer():
            return target
        case Value():
            help = "rebind the name to a new value, or use I.buffer for storage"
            builder.reject(code, f"{what} needs a view or buffer: {describe(builder, target)} is immutable", help)
        case _:
            hint = "write to a view or buffer, with it as the index: y[rows] = v"
            message = f"{describe(builder, target)} holds no elements to write"
            builder.reject(codes.NOT_ASSIGNABLE, message, hint if isinstance(target, Domain) else None)


def no_effect_in_pure(builder: Builder, what: str) -> None:
    if builder.pure is not None:
        help = "return the value, and write it where the operation is used"
        builder.reject(codes.EFFECT, f"{builder.pure} is pure, and this is {what}", help)


def stored_value(builder: Builder, memory: Memory, found: Relation, value: Operand) -> Value:
    """The value to store: in the memory's dtype, broadcasting to the indexed shape without losing an axis."""
    stored = as_value(builder, value, None if isinstance(value, Value) else memory.dtype)
    if stored.dtype != memory.dtype:
        _reject_stored_dtype(builder, memory, stored)
    what = f"storing into {memory.name}{_indexed(builder, found)}"
    fits(builder, stored, found.shape, what, codes.DESTINATION)
    return stored


def _indexed(builder: Builder, found: Relation) -> str:
    return f" at {show_shape(builder, found.shape)}" if found.shape else ""


def _reject_stored_dtype(builder: Builder, memory: Memory, stored: Value) -> NoReturn:
    message = f"`{memory.name}` holds {memory.dtype.name}, and this is {stored.dtype.name}"
    builder.reject(codes.STORED_DTYPE, message, f"write I.cast(..., {memory.dtype!r})")


# ------------------------------------------------------------------------------------------------------------ buffers
def buffer(builder: Builder, shape: Operand, dtype: dtypes.DType, init: Operand) -> Buffer:
    no_effect_in_pure(builder, "an allocation")
    serial = builder.serial()
    made = Buffer(builder.target or f"buffer{serial}", dtype, shape_of(builder, shape), serial)
    builder.statement(Allocate(made, _initial(builder, made, init), builder.span))
    return made


def _initial(builder: Builder, made: Buffer, init: Operand) -> Value | None:
    if isinstance(init, Keyword):
        return None
    value = as_value(builder, init, None if isinstance(init, Value) else made.dtype)
    if value.dtype != made.dtype:
        message = f"the buffer holds {made.dtype.name}, and init is {value.dtype.name}"
        builder.reject(codes.BUFFER, message, f"write I.cast(..., {made.dtype!r})")
    if value.shape and value.shape != made.shape:
        shapes = f"{show_shape(builder, made.shape)}, and init is {show_shape(builder, value.shape)}"
        builder.reject(codes.BUFFER, f"the buffer is {shapes}", "init is a scalar or a tensor of the buffer's shape")
    return value


# ----------------------------------------------------------------------------------------------------------- scatters
def scatter_unique(builder: Builder, destination: Operand, index: Operand, value: Operand) -> Keyword:
    return _scatter(builder, destination, index, value, None, "I.scatter_unique")


def scatter_reduce(builder: Builder, destination: Operand, index: Operand, value: Operand, combine: Operand) -> Keyword:
    return _scatter(builder, destination, index, value, combine, "I.scatter_reduce")


def _scatter(
    builder: Builder, destination: Operand, index: Operand, value: Operand, combine: Operand | None, what: str
) -> Keyword:
    memory = writable(builder, destination, what, codes.WRITE_TO_VALUE)
    no_effect_in_pure(builder, what)
    function = None if combine is None else _scatter_combine(builder, memory, combine)
    found = indexing.relation(builder, memory.shape, index_items(index), written=True)
    stored = stored_value(builder, memory, found, value)
    builder.statement(Scatter(memory, found, stored, function, builder.span))
    return NOTHING


def _scatter_combine(builder: Builder, memory: Memory, combine: Operand) -> str:
    """The one elementwise function that `combine` is."""
    if isinstance(combine, IntrinsicName) and combine.path in ("add", "maximum", "minimum"):
        found: str | None = combine.path
    elif isinstance(combine, Function):
        found = _single_operator(builder, memory, combine)
    else:
        found = None
    if found is None:
        message = f"I.scatter_reduce cannot combine with {describe(builder, combine)}"
        builder.reject(codes.SCATTER_COMBINE, message, "use I.add, I.maximum, I.minimum, or a helper of one + & | ^")
    if found == "add" and memory.dtype.kind == "bool":
        builder.reject(codes.SCATTER_COMBINE, "bool values have no sum", "combine with a helper of one | or &")
    return found


def _single_operator(builder: Builder, memory: Memory, combine: Function) -> str | None:
    parameters = tuple(builder.value(BlockParameter(), Scalar(memory.dtype)) for _ in range(2))
    block, result = builder.trace(combine, parameters, "the combine of I.scatter_reduce")
    match block.statements:
        case (Let(op=Pointwise(function=function, arguments=arguments), results=(only,)),):
            allowed = function in ("add", "and", "or", "xor", "maximum", "minimum")
            return function if allowed and result is only and set(arguments) == set(parameters) else None
        case _:
            return None


# ----------------------------------------------------------------------------------------------------------- promises
def assume_in_bounds(builder: Builder, index: Operand, view: Operand, axis: Operand) -> Keyword:
    no_effect_in_pure(builder, "a promise about memory")
    if not isinstance(view, View | Buffer):
        message = f"I.assume_in_bounds speaks about a view or buffer, and this is {describe(builder, view)}"
        builder.reject(codes.PROMISE, message)
    value = _promised(builder, index)
    builder.statement(AssumeInBounds(value, view, axis_of(builder, axis, view.shape), builder.span))
    return NOTHING


def _promised(builder: Builder, index: Operand) -> Value:
    if isinstance(index, Domain | RaggedRow):
        coordinates = indices(builder, index)
        assert isinstance(coordinates, Value)
        return coordinates
    value = as_value(builder, index, dtypes.index if static_number(index) is not None else None)
    if not value.dtype.is_integer:
        message = f"an index is an integer, and this is {describe(builder, value)}"
        builder.reject(codes.PROMISE, message, "write I.cast(..., I.index)")
    return value
