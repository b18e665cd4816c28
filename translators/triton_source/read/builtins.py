"""Triton's own functions: each takes the execution and its arguments by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from intent import dtypes as d
from intent.dtypes import DType
from intent.records import dataclass, replace
from translators.algebra.polynomial import Atom, Polynomial, Symbol, atomic, ceiling_divide, number
from translators.tile.expression import Axis, Combine, Expression, Reduction, walk
from translators.tile.substitution import substitute
from translators.triton_source.read.atomics import updating
from translators.triton_source.read.block_pointers import (
    advance,
    descriptor_method,
    load_block,
    make_block_pointer,
    make_descriptor,
    store_block,
)
from translators.triton_source.read.combines import reduce_by_function
from translators.triton_source.read.dots import dot
from translators.triton_source.read.execution import Execution
from translators.triton_source.read.expressions import reshaped, transposed
from translators.triton_source.read.extrema import position, position_of
from translators.triton_source.read.mathematics import FUNCTIONS
from translators.triton_source.read.operations import ONE
from translators.triton_source.read.pairs import PAIRS
from translators.triton_source.read.random_numbers import RANDOM
from translators.triton_source.read.scans import associative_scan, scanned
from translators.triton_source.read.values import (
    BlockPointer,
    Builtin,
    NeedsValue,
    NotLifted,
    Pointer,
    Shape,
    Tile,
    Value,
)

Arguments = Mapping[str, Value]
Handler = Callable[[Execution, Arguments], Value]
ABSENT: Final = "\0 absent"


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameter names in order, and what the function does."""

    parameters: tuple[str, ...]
    handler: Handler


def call_builtin(execution: Execution, name: str, arguments: list[Value], keywords: Arguments) -> Value:
    signature = BUILTINS.get(name)
    if signature is None:
        raise NotLifted(f"'{name}' is not read yet")
    if len(arguments) > len(signature.parameters):
        raise NotLifted(f"the arguments of '{name}'")
    named = dict(zip(signature.parameters, arguments, strict=False))
    twice = set(named) & set(keywords)
    if twice:
        raise NotLifted(f"'{name}' is given {', '.join(sorted(twice))} twice")
    return signature.handler(execution, {**named, **keywords})


def call_method(execution: Execution, receiver: Value, name: str, arguments: list[Value], keywords: Arguments) -> Value:
    """`x.to(...)` and the like are the function of that name with the receiver first."""
    match name:
        case "load" | "store" if isinstance(receiver, BlockPointer):
            return descriptor_method(execution, receiver, name, [*arguments, *keywords.values()])
        case "to":
            return call_builtin(execution, "tl.cast", [receiver, *arguments], keywords)
        case "is_floating" if isinstance(receiver, DType):
            return receiver.is_float
        case "is_int" if isinstance(receiver, DType):
            return receiver.is_integer
        case "logical_and" | "logical_or" if isinstance(receiver, Tile) and len(arguments) == 1:
            return logical(execution, name.removeprefix("logical_"), receiver, arguments[0])
        case _ if name.startswith(("is_int", "is_uint", "is_bool")) and isinstance(receiver, DType):
            short = {"int1": "bool", "bool": "bool"}.get(name[3:], name[3:].replace("uint", "u").replace("int", "i"))
            return receiver.name == short
        case _ if f"tl.{name}" in BUILTINS and isinstance(receiver, Tile | Pointer):
            return call_builtin(execution, f"tl.{name}", [receiver, *arguments], keywords)
        case _ if name.startswith(("is_fp", "is_bf")) and isinstance(receiver, DType):
            return receiver.name == {"is_fp16": "f16", "is_fp32": "f32", "is_fp64": "f64", "is_bf16": "bf16"}.get(name)
        case _:
            raise NotLifted(f"method '{name}'")


def logical(execution: Execution, function: str, left: Tile, right: Value) -> Value:
    """`and` and `or`, lane by lane."""
    ops = execution.operations
    first, second = ops.aligned(left, ops.tile(right))
    shape = ops.joint_shape(first.shape, second.shape)
    return Tile(d.boolean, shape, ops.logical(function, ops.truth(first), ops.truth(second)))


# ------------------------------------------------------------------------------------------------ programs, coordinates
def _program_id(execution: Execution, given: Arguments) -> Value:
    axis = given.get("axis")
    if axis not in (0, 1, 2) or not isinstance(axis, int):
        raise NotLifted("a grid axis other than 0, 1 and 2")
    return execution.operations.integer(atomic(execution.program(axis)))


def _num_programs(execution: Execution, given: Arguments) -> Value:
    axis = given.get("axis")
    if axis not in (0, 1, 2) or not isinstance(axis, int):
        raise NotLifted("a grid axis other than 0, 1 and 2")
    return execution.operations.integer(execution.program(axis).end)


def _arange(execution: Execution, given: Arguments) -> Value:
    low, high = (_extent(given[name]) for name in ("start", "end"))
    extent = high - low
    lane = atomic(execution.operations.lanes[0]) if extent != ONE else number(0)
    return execution.operations.integer(low + lane, (extent,))


def _extent(value: Value) -> Polynomial:
    match value:
        case bool():
            raise NotLifted("a number of lanes that is a boolean")
        case int():
            return number(value)
        case Polynomial():
            return value
        case _:
            raise NotLifted("a number of lanes that is not known at compile time")


def _shape(value: Value) -> tuple[Polynomial, ...]:
    return tuple(map(_extent, value)) if isinstance(value, tuple) else (_extent(value),)


def _cdiv(execution: Execution, given: Arguments) -> Value:
    left, right = given["x"], given["div"]
    if isinstance(left, int) and isinstance(right, int):
        return -(-left // right)
    ops = execution.operations
    first, second = ops.tile(left), ops.tile(right)
    if first.value.dtype != d.index or second.value.dtype != d.index:
        return ops.binary("//", ops.binary("-", ops.binary("+", first, second), 1), second)
    made = ceiling_divide(first.value.polynomial, second.value.polynomial)
    if isinstance(left, int | Polynomial) and isinstance(right, int | Polynomial):
        return made
    return ops.integer(made, ops.joint_shape(first.shape, second.shape))


# ------------------------------------------------------------------------------------------------------ memory, effects
def _load(execution: Execution, given: Arguments) -> Value:
    pointer = given["pointer"]
    if isinstance(pointer, BlockPointer):
        return load_block(execution, pointer, given)
    if not isinstance(pointer, Pointer):
        raise NotLifted("a load through something that is no pointer to a parameter's elements")
    return execution.load(pointer, given.get("mask"), given.get("other"))


def _store(execution: Execution, given: Arguments) -> Value:
    pointer = given["pointer"]
    if isinstance(pointer, BlockPointer):
        store_block(execution, pointer, given)
        return None
    if not isinstance(pointer, Pointer):
        raise NotLifted("a store through something that is no pointer to a parameter's elements")
    execution.store(pointer, given["value"], given.get("mask"))
    return None


def _ignored(execution: Execution, given: Arguments) -> Value:
    return None


def _static_assert(execution: Execution, given: Arguments) -> Value:
    """No launch has compile-time values for which it is known not to hold."""
    condition = given["condition"]
    known = isinstance(condition, bool | int) or (
        isinstance(condition, Tile) and condition.value.operation == "constant"
    )
    if known and not execution.known_truth(condition):
        raise NotLifted("compile-time values that a static assertion rules out")
    return None


def _same(execution: Execution, given: Arguments) -> Value:
    """A hint about its argument."""
    return next(iter(given.values()))


# -------------------------------------------------------------------------------------------------------- making tiles
def _full(execution: Execution, given: Arguments) -> Value:
    shape, dtype = _shape(given["shape"]), given.get("dtype")
    if isinstance(dtype, Polynomial) and isinstance(dtype.atom, Symbol):
        if dtype.atom.name not in execution.integer_types:  # the type of coordinates elsewhere
            raise NeedsValue("a tile whose type is not known at compile time", (dtype.atom.name,), of_type=True)
        dtype = d.i64
    if not isinstance(dtype, DType):
        raise NotLifted("a tile whose type is not known at compile time")
    value = given["value"]
    tile = execution.scalar(value)
    return replace(execution.operations.cast(tile, dtype), shape=shape)


def _zeros(execution: Execution, given: Arguments) -> Value:
    return _full(execution, {**given, "value": 0})


def _zeros_like(execution: Execution, given: Arguments) -> Value:
    like = execution.operations.tile(given["input"])
    return replace(execution.operations.cast(0, like.dtype), shape=like.shape)


def _cast(execution: Execution, given: Arguments) -> Value:
    value, target = given["input"], given["dtype"]
    if given.get("fp_downcast_rounding") not in (None, "rtne"):
        raise NotLifted("a cast that rounds otherwise than to nearest")
    if isinstance(value, Pointer):
        raise NotLifted("a cast of a pointer")
    ops = execution.operations
    tile = ops.tile(value)
    if isinstance(target, Polynomial) and tile.value.dtype == d.index:
        execution.integer_types.update(atom.name for atom in target.atoms() if isinstance(atom, Symbol))
        return replace(tile, dtype=d.i64)
    if isinstance(target, Polynomial) and isinstance(target.atom, Symbol):
        raise NeedsValue("a cast to a type that is not known at compile time", (target.atom.name,), of_type=True)
    if not isinstance(target, DType):
        raise NotLifted("a cast to a type that is not known at compile time")
    if given.get("bitcast") in (None, False):
        return ops.cast(tile, target)
    if target.bits != tile.dtype.bits:
        raise NotLifted("a bitcast between different widths")
    return ops.same_bits(tile, target)


# --------------------------------------------------------------------------------------------------------------- shapes
def _expand_dims(execution: Execution, given: Arguments) -> Value:
    value, axis = _tile_or_pointer(execution, given["input"]), given["axis"]
    if not isinstance(axis, int):
        raise NotLifted("a dimension that is not known at compile time")
    rank = len(value.shape)
    at = axis if axis >= 0 else axis + rank + 1
    lanes = execution.operations.lanes
    mapping = {old: atomic(lanes[old + (old >= at)]) for old in range(rank)}
    return execution.operations.reshaped(value, mapping, (*value.shape[:at], ONE, *value.shape[at:]))


def _tile_or_pointer(execution: Execution, value: Value) -> Tile | Pointer:
    return value if isinstance(value, Pointer) else execution.operations.tile(value)


def _broadcast_to(execution: Execution, given: Arguments) -> Value:
    tile = _tile_or_pointer(execution, given["input"])
    shape = _shape(given["shape"])
    if isinstance(tile, Pointer):
        return replace(execution.operations.pointer_with_rank(tile, len(shape)), shape=shape)
    raised = execution.operations.with_rank(tile, len(shape))
    if execution.operations.joint_shape(raised.shape, shape) != shape:
        raise NotLifted("a broadcast to fewer lanes")
    return replace(raised, shape=shape)


def _reshape(execution: Execution, given: Arguments) -> Value:
    return reshaped(execution, _tile_or_pointer(execution, given["input"]), _shape(given["shape"]))


def _trans(execution: Execution, given: Arguments) -> Value:
    order = given.get("dims")
    dims = tuple(each for each in order if isinstance(each, int)) if isinstance(order, tuple) else None
    return transposed(execution, _tile_or_pointer(execution, given["input"]), dims)


# ----------------------------------------------------------------------------------------------------------- arithmetic
def _where(execution: Execution, given: Arguments) -> Value:
    return execution.operations.select(given["condition"], given["x"], given["y"])


def _extremum(kind: str) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        left, right = given["x"], given["y"]
        if isinstance(left, int | float) and isinstance(right, int | float):
            return min(left, right) if kind == "minimum" else max(left, right)
        propagate = given.get("propagate_nan")
        asked = isinstance(propagate, Builtin) and propagate.name.endswith(".ALL")
        return execution.operations.extremum(kind, left, right, asked)

    return handler


def _unary(function: str, exact: bool = False) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        ops = execution.operations
        tile = ops.tile(next(iter(given.values())))
        if function == "abs" and tile.dtype.is_integer:
            return replace(tile, value=ops.pointwise(function, tile.dtype, ops.data(tile)))
        if not tile.dtype.is_float:
            raise NotLifted(f"'{function}' of an integer")
        if not exact and tile.dtype == d.f32:
            execution.remark(f"{function}: Triton's fast f32 approximation in the original, the accurate function here")
        return replace(tile, value=ops.pointwise(function, tile.dtype, tile.value))

    return handler


def _ceil(execution: Execution, given: Arguments) -> Value:
    ops = execution.operations
    tile = ops.tile(next(iter(given.values())))
    below = ops.pointwise("floor", tile.dtype, ops.pointwise("negative", tile.dtype, tile.value))
    return replace(tile, value=ops.pointwise("negative", tile.dtype, below))


def _divide(execution: Execution, given: Arguments) -> Value:
    return execution.operations.divided(given["x"], given["y"])


def _fma(execution: Execution, given: Arguments) -> Value:
    execution.remark("fma: one rounding in the original, a product and a sum here")
    ops = execution.operations
    return ops.binary("+", ops.binary("*", given["x"], given["y"]), given["z"])


# ----------------------------------------------------------------------------------------------------------- reductions
def bound_axis(execution: Execution, extent: Polynomial) -> Axis:
    return execution.arena.axis("lane", number(0), extent)


def _reduced(kind: str) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        if given.get("return_indices") not in (None, False):
            value = handler(execution, {**given, "return_indices": False})
            return (value, position_of(execution, kind, given))
        dtype = given.get("dtype")
        tile = widened(execution, kind, execution.operations.tile(given["input"]), dtype)
        kept = bool(given.get("keep_dims"))
        floating = tile.dtype.is_float and kind != "sum"
        return reduce_tile(execution, f"{kind}_num" if floating else kind, tile, given.get("axis"), kept)

    return handler


def _histogram(execution: Execution, given: Arguments) -> Value:
    """How many of the values that the mask lets count are 0, 1 and so on: a sum for each bin."""
    ops = execution.operations
    values = ops.tile(given["input"])
    if len(values.shape) != 1 or not values.dtype.is_integer:
        raise NotLifted("a histogram of what is no row of integers")
    bins = _expand_dims(execution, {"input": _arange(execution, {"start": 0, "end": given["num_bins"]}), "axis": 0})
    hit = ops.compare("==", _expand_dims(execution, {"input": values, "axis": 1}), bins)
    mask = ops.tile(given.get("mask") if given.get("mask") is not None else True)
    if not _within_bins(values.value, mask.value, given["num_bins"]):
        execution.remark("values outside the bins of tl.histogram, of which Triton says nothing, count nowhere")
    if mask.shape:
        mask = ops.tile(_expand_dims(execution, {"input": mask, "axis": 1}))
    return reduce_tile(execution, "sum", ops.cast(ops.binary("&", hit, mask), d.i32), 0, False)


def _within_bins(value: Expression, mask: Expression, bins: Value) -> bool:
    """Whether there is a bin for every number of its type, or the mask compares the value with something."""
    while True:
        match value.operation, value.attribute:
            case "cast", _:
                (value,) = value.arguments
            case "index", Polynomial(atom=Expression() as inner):
                value = inner
            case _:
                break
    small = value.dtype.kind in ("unsigned", "bool") and isinstance(bins, int) and 1 << value.dtype.bits <= bins
    return small or any(value in _compared(node) for node in walk(mask) if node.operation == "pointwise")


def _compared(comparison: Expression) -> Iterator[object]:
    for argument in comparison.arguments:
        yield argument
        if argument.operation == "index":
            yield from argument.attribute.atoms()


def widened(execution: Execution, kind: str, tile: Tile, dtype: Value) -> Tile:
    """The type that Triton reduces in."""
    ops = execution.operations
    if isinstance(dtype, DType):
        return ops.cast(tile, dtype)
    if tile.dtype == d.bf16 or (kind != "sum" and tile.dtype.is_float and tile.dtype.bits < 32):
        return ops.cast(tile, d.f32) if kind != "sum" else tile
    if not tile.dtype.is_float and tile.dtype.bits < 32:
        return ops.cast(tile, d.u32 if tile.dtype.kind == "unsigned" else d.i32)
    return tile


def reduce_tile(execution: Execution, kind: str, tile: Tile, axis: Value, kept: bool) -> Tile:
    lanes, shape, (body,) = _bound_lanes(execution, (tile,), axis, kept)
    if not lanes:
        return Tile(tile.dtype, shape, body)
    return Tile(tile.dtype, shape, execution.arena.make("reduce", tile.dtype, (body,), Reduction(kind, lanes)))


def reduce_tiles(
    execution: Execution, combine: Combine, tiles: Sequence[Tile], axis: Value, kept: bool
) -> tuple[Tile, ...]:
    """All results of one reduction by a function."""
    if len({tile.shape for tile in tiles}) > 1:
        raise NotLifted("a reduction of tiles of different shapes")
    lanes, shape, bodies = _bound_lanes(execution, tiles, axis, kept)
    if not lanes:
        return tuple(Tile(tile.dtype, shape, body) for tile, body in zip(tiles, bodies, strict=True))
    reductions = (Reduction("generic", lanes, result, combine) for result in range(len(tiles)))
    nodes = (
        execution.arena.make("reduce", tile.dtype, bodies, each) for tile, each in zip(tiles, reductions, strict=True)
    )
    return tuple(Tile(node.dtype, shape, node) for node in nodes)


def _bound_lanes(
    execution: Execution, tiles: Sequence[Tile], axis: Value, kept: bool
) -> tuple[tuple[Axis, ...], Shape, tuple[Expression, ...]]:
    """The lanes that a reduction binds, the shape that is left, and what is reduced, over both."""
    ops = execution.operations
    given = ops.shape_of(*tiles)
    rank = len(given)
    if axis is None:
        dimensions: tuple[int, ...] = tuple(range(rank))
    elif isinstance(axis, int) and -rank <= axis < rank:
        dimensions = (axis % rank,)
    elif isinstance(axis, Tile):
        raise NotLifted("a reduction whose dimension is a run-time value, which Triton does not compile")
    else:
        raise NotLifted("a reduction over a dimension that the tile does not have")
    bound: list[Axis] = []
    mapping: dict[Atom, Polynomial] = {}
    shape: list[Polynomial] = []
    for dimension, extent in enumerate(given):
        if dimension in dimensions:
            if extent != ONE:
                bound.append(bound_axis(execution, extent))
                mapping[ops.lanes[dimension]] = atomic(bound[-1])
            if kept:
                shape.append(ONE)
        else:
            mapping[ops.lanes[dimension]] = atomic(ops.lanes[len(shape)])
            shape.append(extent)
    bodies = tuple(substitute(execution.arena, ops.data(tile), mapping) for tile in tiles)
    return tuple(bound), tuple(shape), bodies


def _broadcast(execution: Execution, given: Arguments) -> Value:
    ops = execution.operations
    tiles = ops.aligned(ops.tile(given["input"]), ops.tile(given["other"]))
    shape = ops.shape_of(*tiles)
    return tuple(replace(tile, shape=shape) for tile in tiles)


# --------------------------------------------------------------------------------------------------- Python's functions
def _python_extremum(kind: str) -> Handler:
    def handler(execution: Execution, given: Arguments) -> Value:
        return _extremum(kind)(execution, given)

    return handler


def _float(execution: Execution, given: Arguments) -> Value:
    value = given["x"]
    if isinstance(value, str | int | float):
        return float(value)
    raise NotLifted("float() of a run-time value")


def _is_particular(execution: Execution, given: Arguments) -> Value:
    """What asks for a particular device does not hold: a kernel means the same on all."""
    return False


def _length(execution: Execution, given: Arguments) -> Value:
    value = given["x"]
    if isinstance(value, tuple):
        return len(value)
    raise NotLifted("len() of something that is no tuple")


def _sigmoid(execution: Execution, given: Arguments) -> Value:
    return _unary("sigmoid")(execution, given)


_HINTED = ("input", "values")
_MEMORY = (
    "pointer",
    "mask",
    "other",
    "boundary_check",
    "padding_option",
    "cache_modifier",
    "eviction_policy",
    "volatile",
)
_DOT = ("input", "other", "acc", "input_precision", "allow_tf32", "max_num_imprecise_acc", "out_dtype")
_REDUCED = ("input", "axis", "keep_dims")
_EXTREMUM = ("input", "axis", "return_indices", "return_indices_tie_break_left", "keep_dims")
_ATOMIC = ("pointer", "val", "mask", "sem", "scope")
_SCANNED = ("input", "axis", "reverse")
_TABLE: Final[Mapping[str, Signature]] = {
    "tl.program_id": Signature(("axis",), _program_id),
    "tl.num_programs": Signature(("axis",), _num_programs),
    "tl.arange": Signature(("start", "end"), _arange),
    "tl.cdiv": Signature(("x", "div"), _cdiv),
    "triton.cdiv": Signature(("x", "div"), _cdiv),
    "tl.load": Signature(_MEMORY, _load),
    "tl.store": Signature(("pointer", "value", "mask", "boundary_check", "cache_modifier", "eviction_policy"), _store),
    "tl.make_block_ptr": Signature(
        ("base", "shape", "strides", "offsets", "block_shape", "order"), make_block_pointer
    ),
    "tl.advance": Signature(("base", "offsets"), advance),
    "tl.make_tensor_descriptor": Signature(
        ("base", "shape", "strides", "block_shape", "padding_option"), make_descriptor
    ),
    **{f"tl.atomic_{name}": Signature(_ATOMIC, updating(name)) for name in ("add", "max", "min", "and", "or", "xor")},
    "tl.static_assert": Signature(("condition", "message"), _static_assert),
    "tl.static_print": Signature(("a", "b", "c", "d", "e"), _ignored),
    "tl.device_print": Signature(("a", "b", "c", "d", "e"), _ignored),
    "tl.device_assert": Signature(("condition", "message"), _ignored),
    "tl.debug_barrier": Signature((), _ignored),
    "tl.assume": Signature(("condition",), _ignored),
    "tl.multiple_of": Signature(_HINTED, _same),
    "tl.max_contiguous": Signature(_HINTED, _same),
    "tl.max_constancy": Signature(_HINTED, _same),
    "tl.full": Signature(("shape", "value", "dtype"), _full),
    "tl.zeros": Signature(("shape", "dtype"), _zeros),
    "tl.zeros_like": Signature(("input",), _zeros_like),
    "tl.cast": Signature(("input", "dtype", "fp_downcast_rounding", "bitcast"), _cast),
    "tl.expand_dims": Signature(("input", "axis"), _expand_dims),
    "tl.broadcast": Signature(("input", "other"), _broadcast),
    "tl.broadcast_to": Signature(("input", "shape"), _broadcast_to),
    "tl.reshape": Signature(("input", "shape"), _reshape),
    "tl.view": Signature(("input", "shape"), _reshape),
    "tl.trans": Signature(("input", "dims"), _trans),
    "tl.permute": Signature(("input", "dims"), _trans),
    "tl.where": Signature(("condition", "x", "y"), _where),
    "tl.maximum": Signature(("x", "y", "propagate_nan"), _extremum("maximum")),
    "tl.minimum": Signature(("x", "y", "propagate_nan"), _extremum("minimum")),
    "min": Signature(("x", "y"), _python_extremum("minimum")),
    "max": Signature(("x", "y"), _python_extremum("maximum")),
    "float": Signature(("x",), _float),
    "tl.constexpr": Signature(("x",), _same),
    "len": Signature(("x",), _length),
    "tl.target_info.cuda_capability_geq": Signature(("major", "minor"), _is_particular),
    "tl.fdiv": Signature(("x", "y", "ieee_rounding"), _divide),
    "tl.div_rn": Signature(("x", "y"), _divide),
    "libdevice.div_rn": Signature(("x", "y"), _divide),
    **{f"{module}.fma": Signature(("x", "y", "z"), _fma) for module in ("tl", "tl.math")},
    "tl.ceil": Signature(("x",), _ceil),
    "tl.sigmoid": Signature(("x",), _sigmoid),
    "tl.histogram": Signature(("input", "num_bins", "mask"), _histogram),
    "tl.sum": Signature((*_REDUCED, "dtype"), _reduced("sum")),
    "tl.max": Signature(_EXTREMUM, _reduced("max")),
    "tl.min": Signature(_EXTREMUM, _reduced("min")),
    "tl.cumsum": Signature((*_SCANNED, "dtype"), scanned("sum")),
    "tl.cumprod": Signature(_SCANNED, scanned("product")),
    "tl.associative_scan": Signature(("input", "axis", "combine_fn", "reverse"), associative_scan),
    "tl.argmax": Signature(("input", "axis", "tie_break_left", "keep_dims"), position("max")),
    "tl.argmin": Signature(("input", "axis", "tie_break_left", "keep_dims"), position("min")),
    "tl.reduce": Signature(("input", "axis", "combine_fn", "keep_dims"), reduce_by_function),
    "tl.dot": Signature(_DOT, dot),
}  # fmt: skip
_UNARY: Final = ("exp", "exp2", "log", "sin", "cos", "sqrt", "rsqrt", "abs", "floor", "erf", "tanh", "log1p", "erfc")
_EXACT: Final = ("abs", "floor")
BUILTINS: Final[Mapping[str, Signature]] = {
    **_TABLE,
    **{
        f"{module}.{function}": Signature(("x",), _unary(function, function in _EXACT))
        for module in ("tl", "tl.math", "libdevice", "extra")
        for function in _UNARY
    },
    "tl.sqrt_rn": Signature(("x",), _unary("sqrt", True)),
    **{f"{module}.ceil": Signature(("x",), _ceil) for module in ("tl.math", "libdevice")},
    **{
        name: Signature(parameters, handler)
        for table in (FUNCTIONS, PAIRS, RANDOM)
        for name, (parameters, handler) in table.items()
    },
}
