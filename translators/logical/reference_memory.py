"""The reference's memory: views and buffers as NumPy arrays, index relations as coordinate arrays.

Every access checks its coordinates: a member outside the memory is illegal input. A `Store` also knows which elements
of an `Out` or an uninitialised buffer have been written, because reading one that has not is illegal too.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from intent.dtypes import DType
from intent.records import dataclass
from translators.logical.reference_numerics import Array, IllegalInput, as_double, round_to
from translators.logical.reference_pointwise import pointwise

Coordinates = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Store:
    """One view or buffer: its elements, and which are defined (None = all)."""

    name: str
    dtype: DType
    elements: Array
    defined: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """A relation with its indices evaluated: one coordinate array per axis of the memory, broadcastable to `shape`."""

    coordinates: tuple[Coordinates, ...]
    shape: tuple[int, ...]


# ----------------------------------------------------------------------------------------------------------- relations
@dataclass(frozen=True, slots=True)
class Point:
    """A scalar index: no axis."""

    index: int


@dataclass(frozen=True, slots=True)
class Span:
    """A domain index: one axis."""

    coordinates: range


@dataclass(frozen=True, slots=True)
class Joint:
    """A tensor index: the axes that all tensor indices share."""

    index: Coordinates


@dataclass(frozen=True, slots=True)
class Fresh:
    """`None`: one axis of extent 1."""


Item = Point | Span | Joint | Fresh


def resolve(items: tuple[Item, ...]) -> Access:
    """Give every index array the rank of the result, with its own axes in its own place."""
    joint_shape = np.broadcast_shapes(*(item.index.shape for item in items if isinstance(item, Joint)))
    shape, places = _layout(items, joint_shape)
    coordinates = tuple(
        _placed(item, place, len(shape), len(joint_shape))
        for item, place in zip(items, places, strict=True)
        if not isinstance(item, Fresh)
    )
    return Access(coordinates, shape)


def _layout(items: tuple[Item, ...], joint_shape: tuple[int, ...]) -> tuple[tuple[int, ...], list[int]]:
    """(result shape, the first result axis of each item)."""
    shape: list[int] = []
    places: list[int] = []
    joint_place: int | None = None
    for item in items:
        if isinstance(item, Joint) and joint_place is None:
            joint_place = len(shape)
            shape.extend(joint_shape)
            places.append(joint_place)
            continue
        places.append(joint_place if isinstance(item, Joint) and joint_place is not None else len(shape))
        shape.extend(_own_extent(item))
    return tuple(shape), places


def _own_extent(item: Item) -> tuple[int, ...]:
    match item:
        case Span(coordinates):
            return (len(coordinates),)
        case Fresh():
            return (1,)
        case Point() | Joint():
            return ()


def _placed(item: Item, place: int, rank: int, joint_rank: int) -> Coordinates:
    match item:
        case Point(index):
            return np.full((1,) * rank, index, np.int64)
        case Span(coordinates):
            axis = np.arange(coordinates.start, coordinates.stop, coordinates.step, dtype=np.int64)
            return axis.reshape((1,) * place + (-1,) + (1,) * (rank - place - 1))
        case Joint(index):
            full = index.reshape((1,) * (joint_rank - index.ndim) + index.shape)
            return full.reshape((1,) * place + full.shape + (1,) * (rank - place - joint_rank))
        case Fresh():
            raise AssertionError("a new axis has no coordinates")


# -------------------------------------------------------------------------------------------------------------- reading
def read(store: Store, access: Access, valid: Array | None = None, fill: Array | None = None) -> Array:
    """A copy of the elements; where `valid` is False the memory is not touched and `fill` stands instead."""
    if valid is not None:
        return _read_valid(store, access, valid, fill)
    _require_inside(store, access, None)
    index = _numpy_index(access)
    result = np.array(store.elements[index]).reshape(access.shape)
    if store.defined is not None and not np.all(store.defined[index]):
        raise IllegalInput(f"an element of '{store.name}' is read before it is written")
    return result


def _read_valid(store: Store, access: Access, valid: Array, fill: Array | None) -> Array:
    chosen = np.broadcast_to(np.asarray(valid, np.bool_), access.shape)
    _require_inside(store, access, chosen)
    result = np.zeros(access.shape, store.elements.dtype)
    if fill is not None:
        result[...] = fill
    index = tuple(np.broadcast_to(axis, access.shape)[chosen] for axis in access.coordinates)
    result[chosen] = store.elements[index] if index else store.elements[()]
    if store.defined is not None and not np.all(store.defined[index]):
        raise IllegalInput(f"an element of '{store.name}' is read before it is written")
    return result


def _numpy_index(access: Access) -> tuple[Coordinates, ...]:
    """Coordinate arrays that NumPy broadcasts to exactly the access's shape, new axes included."""
    if not access.coordinates:
        return ()
    first, *rest = access.coordinates
    return (np.broadcast_to(first, access.shape), *rest)


def _require_inside(store: Store, access: Access, chosen: npt.NDArray[np.bool_] | None) -> None:
    if 0 in access.shape:
        return
    for axis, (coordinates, extent) in enumerate(zip(access.coordinates, store.elements.shape, strict=True)):
        outside = (coordinates < 0) | (coordinates >= extent)
        if not np.any(outside):
            continue
        touched = outside if chosen is None else outside & chosen
        if np.any(touched):
            found = int(np.broadcast_to(coordinates, touched.shape)[touched][0])
            raise IllegalInput(f"index {found} is out of bounds for axis {axis} of '{store.name}' (extent {extent})")


# -------------------------------------------------------------------------------------------------------------- writing
def write(store: Store, access: Access, value: Array) -> None:
    _require_inside(store, access, None)
    index = _numpy_index(access)
    store.elements[index] = np.broadcast_to(value, access.shape)
    if store.defined is not None:
        store.defined[index] = True


def _flat_positions(store: Store, access: Access) -> npt.NDArray[np.intp]:
    """The row-major position in the memory of every member of the access, flattened."""
    axes = tuple(np.broadcast_to(axis, access.shape).reshape(-1) for axis in access.coordinates)
    if not axes:
        return np.zeros(int(np.prod(access.shape)), np.intp)
    return np.asarray(np.ravel_multi_index(axes, store.elements.shape) if axes[0].size else np.zeros(0), np.intp)


def scatter(store: Store, access: Access, value: Array, combine: str | None) -> None:
    """Repeated destinations combine; without `combine` they are illegal, because the author promised distinct ones."""
    _require_inside(store, access, None)
    positions = _flat_positions(store, access)
    values = np.broadcast_to(value, access.shape).reshape(-1)
    if combine is None:
        if np.unique(positions).size != positions.size:
            raise IllegalInput(f"two members of a scatter_unique write the same element of '{store.name}'")
        write(store, access, value)
        return
    old = read(store, access).reshape(-1)  # also checks that the destinations are defined
    merged = _combined(combine, old, positions, values, store.dtype)
    store.elements[_numpy_index(access)] = merged.reshape(access.shape)


_COMBINE: dict[str, np.ufunc] = {
    "add": np.add, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _combined(combine: str, old: Array, positions: npt.NDArray[np.intp], values: Array, dtype: DType) -> Array:
    """For each member, the final value of its destination. Float sums are exact to f64 and rounded once (any order)."""
    places, member = np.unique(positions, return_inverse=True)
    wide = as_double(old) if dtype.is_float else old
    totals = np.empty(places.size, wide.dtype)
    totals[member] = wide
    _COMBINE[combine].at(totals, member, as_double(values) if dtype.is_float else values)
    return (round_to(totals, dtype) if dtype.is_float else totals)[member]


# -------------------------------------------------------------------------------------------------------------- atomics
def atomic(store: Store, access: Access, action: str, arguments: tuple[Array, ...]) -> tuple[Array, ...]:
    """Member by member in row-major order; gives the old values (and, for compare_exchange, the successes)."""
    _require_inside(store, access, None)
    positions = _flat_positions(store, access)
    operands = tuple(np.broadcast_to(argument, access.shape).reshape(-1) for argument in arguments)
    if action != "store" and store.defined is not None:
        read(store, access)
    old = np.empty(positions.size, store.elements.dtype)
    success = np.zeros(positions.size, np.bool_)
    rule = _ATOMIC[action]
    for member, position in enumerate(positions):
        place = np.unravel_index(position, store.elements.shape)
        old[member] = store.elements[place]
        new = rule(np.asarray(old[member]), tuple(np.asarray(operand[member]) for operand in operands), store.dtype)
        success[member] = new is not None
        if new is not None:
            store.elements[place] = new
    if store.defined is not None:
        store.defined[_numpy_index(access)] = True
    results = (old.reshape(access.shape), success.reshape(access.shape))
    return () if action == "store" else results if action == "compare_exchange" else results[:1]


AtomicRule = Callable[[Array, tuple[Array, ...], DType], Array | None]


def _combining(function: str) -> AtomicRule:
    return lambda old, operands, dtype: pointwise(function, (old, operands[0]), dtype)


def _compare_exchange(old: Array, operands: tuple[Array, ...], dtype: DType) -> Array | None:
    """Bitwise comparison, as hardware does: -0.0 is not 0.0 and a NaN equals itself."""
    return operands[1] if old.tobytes() == operands[0].tobytes() else None


_ATOMIC: dict[str, AtomicRule] = {
    "load": lambda old, operands, dtype: None,
    "store": lambda old, operands, dtype: operands[0],
    "exchange": lambda old, operands, dtype: operands[0],
    "add": _combining("add"),
    "max": _combining("maximum"),
    "min": _combining("minimum"),
    "and": _combining("and"),
    "or": _combining("or"),
    "xor": _combining("xor"),
    "compare_exchange": _compare_exchange,
}
