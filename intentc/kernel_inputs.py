"""Random arguments for a kernel: by dtype, shape and role."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from intentc.index_roles import Role, index_roles
from translators.algebra.polynomial import Symbol
from translators.logical.program import Kernel, ScalarParameter
from translators.logical.reference import Argument
from translators.logical.reference_numerics import Array, carrier
from translators.logical.types import View

Sizes = Mapping[str, int]
Arguments = dict[str, Argument]

# Sizes for the symbols of a kernel, last symbol first: no multiple of a block, and multiples of 16 that take the form
# for aligned arrays.
TAILS = (37, 5, 19, 3, 7, 2)
MULTIPLES = (64, 16, 16, 4, 4, 2)
SMALL = (4, 3, 2, 8, 16, 17, 1)


def symbols(kernel: Kernel) -> list[str]:
    """The kernel's size symbols in order of appearance."""
    extents = (extent.atom for view in kernel.views for extent in view.shape)
    return list(dict.fromkeys(atom.name for atom in extents if isinstance(atom, Symbol)))


def shape(view: View, sizes: Sizes) -> tuple[int, ...]:
    """The extents of a view."""
    atoms = ((extent.atom, extent.offset) for extent in view.shape)
    return tuple(sizes[atom.name] if isinstance(atom, Symbol) else number for atom, number in atoms)


def default_sizes(kernel: Kernel, values: Sequence[int] = TAILS) -> dict[str, int]:
    """A size for each symbol; the last one, which is mostly the contiguous axis, gets the first value."""
    names = symbols(kernel)[::-1]
    chosen = {name: values[place % len(values)] for place, name in enumerate(names)}
    return {name: chosen[name] for name in names[::-1]}


def candidates(kernel: Kernel) -> Iterator[dict[str, int]]:
    """Sizes to try in turn for a kernel that does not take any: tails, multiples, then combinations of small ones."""
    yield default_sizes(kernel)
    yield default_sizes(kernel, MULTIPLES)
    names = symbols(kernel)
    for values in itertools.islice(itertools.product(SMALL, repeat=len(names)), 20_000):
        yield dict(zip(names, values, strict=True))


def sweep(kernel: Kernel, tails: dict[str, int]) -> Iterator[dict[str, int]]:
    """The sizes given, multiples of 16, ones, and each size zero in turn."""
    yield tails
    if tails:
        yield default_sizes(kernel, MULTIPLES)
        yield dict.fromkeys(tails, 1)
    for name in tails:
        yield tails | {name: 0}


def make_inputs(kernel: Kernel, sizes: Sizes, seed: int = 0, given: Mapping[str, Argument] | None = None) -> Arguments:
    """In and InOut arrays and scalars in declaration order; `given` replaces random ones.

    Integers that the kernel uses as an index lie within the smallest extent; those that bound a domain also increase
    along the last axis, as offsets into another array do, and destinations of writes are distinct while they can be.
    """
    given = given or {}
    generator = np.random.default_rng(seed)
    roles = index_roles(kernel)
    limit = max(1, min((extent for view in kernel.views for extent in shape(view, sizes)), default=1))
    arguments: Arguments = {}
    for parameter in kernel.parameters:
        if parameter.name in given:
            arguments[parameter.name] = given[parameter.name]
        elif isinstance(parameter, ScalarParameter):
            arguments[parameter.name] = _scalar(parameter, generator)
        elif parameter.direction != "Out":
            arguments[parameter.name] = _array(parameter, sizes, roles.get(parameter.name), limit, generator)
    return arguments


def poisoned(view: View, sizes: Sizes, byte: int) -> Array:
    """An output every byte of which is `byte` (a bool is its lowest bit)."""
    extents = shape(view, sizes)
    if view.dtype.kind == "bool":
        return np.full(extents, bool(byte & 1))
    memory = np.full(int(np.prod(extents)) * view.dtype.bytes, byte, np.uint8)
    return memory.view(carrier(view.dtype)).reshape(extents)


def strided(array: Array) -> Array:
    """The same elements in memory of other strides: axes in reverse order, every other element of the last."""
    if array.ndim == 0:
        return array
    parent = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype, order="F")
    view = parent[..., ::2]
    view[...] = array
    return view


def with_specials(kernel: Kernel, arguments: Arguments, seed: int = 0, finite: Sequence[str] = ()) -> Arguments:
    """The arguments with a few NaN and infinities in the float arrays that are not named as `finite`."""
    generator = np.random.default_rng(seed)
    floats = {view.name for view in kernel.views if view.dtype.is_float and view.dtype.name != "f8e4m3fn"}
    floats -= set(finite)
    return {name: _sprinkle(value, generator) if name in floats else value for name, value in arguments.items()}


def _sprinkle(value: Argument, generator: np.random.Generator) -> Array:
    array: Array = np.array(value)
    for special in (np.nan, np.inf, -np.inf):
        array[generator.random(array.shape) < 0.02] = special
    return array


def _array(view: View, sizes: Sizes, role: Role | None, limit: int, generator: np.random.Generator) -> Array:
    extents = shape(view, sizes)
    if role is not None:
        return _coordinates(extents, role, limit, generator).astype(carrier(view.dtype))
    match view.dtype.kind:
        case "float":
            return generator.standard_normal(extents).astype(carrier(view.dtype))
        case "bool":
            return np.asarray(generator.random(extents) < 0.5)
        case "signed" | "index":
            return generator.integers(-100, 100, extents).astype(carrier(view.dtype))
        case "unsigned":
            return generator.integers(0, 1 << view.dtype.bits, extents, dtype=carrier(view.dtype))


def _coordinates(extents: tuple[int, ...], role: Role, limit: int, generator: np.random.Generator) -> Array:
    match role:
        case "index":
            return generator.integers(0, limit, extents)
        case "bound":
            indices = generator.integers(0, limit, extents)
            return np.sort(indices, axis=-1) if extents else indices
        case "destination":
            return (generator.permutation(math.prod(extents)) % limit).reshape(extents)


def _scalar(parameter: ScalarParameter, generator: np.random.Generator) -> Argument:
    match parameter.dtype.kind:
        case "float":
            return np.asarray(generator.uniform(0.25, 0.75)).astype(carrier(parameter.dtype))[()]
        case "bool":
            return True
        case "signed" | "unsigned" | "index":
            return int(generator.integers(1, 4))
