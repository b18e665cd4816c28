"""The reference: what a logical program means, computed with NumPy. The oracle of every test, and the CPU target.

    outputs = run(kernel, {"x": x, "scale": 0.5})     allocates Out views, gives them by name
    evaluate(kernel, arguments)                       Out arrays are given by the caller; written in place

bf16 and f8 views are `ml_dtypes` arrays. Views may overlap in memory: statements take effect in order and reads are
snapshots, as in the language. Illegal input (out of bounds, division by zero, ...) raises `IllegalInput` with its span.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from translators.algebra.polynomial import Polynomial, Symbol
from translators.logical.program import Kernel, ScalarParameter
from translators.logical.reference_execution import Machine, NotEvaluated, Options
from translators.logical.reference_memory import Store
from translators.logical.reference_numerics import Array, IllegalInput, carrier, literal
from translators.logical.types import Memory, View

DEFAULTS = Options()
Argument = Array | np.generic | bool | int | float


class ArgumentError(ValueError):
    """An argument that does not fit the kernel's signature; the message names the parameter."""


def evaluate(kernel: Kernel, arguments: Mapping[str, Argument], options: Options = DEFAULTS) -> None:
    """Run the kernel once; Out and InOut arrays are written in place."""
    _check_names(kernel, arguments)
    symbols: dict[str, int] = {}
    arrays = {view.name: _check_view(view, arguments[view.name], symbols) for view in kernel.views}
    scalars = {scalar.name: _check_scalar(scalar, arguments[scalar.name]) for scalar in kernel.scalars}
    stores: dict[Memory, Store] = {view: _store(view, arrays, options) for view in kernel.views}
    with np.errstate(all="ignore"):
        Machine(symbols, scalars, stores, options).block(kernel.body)


def run(
    kernel: Kernel,
    arguments: Mapping[str, Argument],
    extents: Mapping[str, int] | None = None,
    options: Options = DEFAULTS,
) -> dict[str, Array]:
    """Allocate the Out views, evaluate, and give them by name. `extents` are the symbols that only an Out has."""
    outputs = allocate_outputs(kernel, arguments, extents)
    evaluate(kernel, {**arguments, **outputs}, options)
    return outputs


def allocate_outputs(
    kernel: Kernel, arguments: Mapping[str, Argument], extents: Mapping[str, int] | None = None
) -> dict[str, Array]:
    """Zeroed arrays for the Out views, with extents taken from the other arguments and from `extents`."""
    symbols = dict(extents or {})
    for view in kernel.views:
        if view.direction != "Out":
            _check_view(view, _present(view.name, arguments), symbols)
    return {
        view.name: np.zeros(_extents(view, symbols), carrier(view.dtype))
        for view in kernel.views
        if view.direction == "Out"
    }


def _extents(view: View, symbols: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(_extent(view, extent, symbols) for extent in view.shape)


def _extent(view: View, extent: Polynomial, symbols: Mapping[str, int]) -> int:
    """View shapes hold numbers and symbols only."""
    atom = extent.atom
    if not isinstance(atom, Symbol):
        return extent.offset
    if atom.name not in symbols:
        raise ArgumentError(f"the extent '{atom.name}' of '{view.name}' occurs in no input: give it by name")
    return symbols[atom.name]


# --------------------------------------------------------------------------------------------------------------- checks
def _check_names(kernel: Kernel, arguments: Mapping[str, Argument]) -> None:
    names = [parameter.name for parameter in kernel.parameters]
    for name in names:
        _present(name, arguments)
    unknown = sorted(set(arguments) - set(names))
    if unknown:
        raise ArgumentError(f"'{kernel.name}' has no parameter '{unknown[0]}'")


def _present(name: str, arguments: Mapping[str, Argument]) -> Argument:
    if name not in arguments:
        raise ArgumentError(f"the argument '{name}' is missing")
    return arguments[name]


def _check_view(view: View, argument: Argument, symbols: dict[str, int]) -> Array:
    """The array of a view; binds the symbols of its shape, or checks them against earlier views."""
    if not isinstance(argument, np.ndarray):
        raise ArgumentError(f"'{view.name}' must be a NumPy array, not {type(argument).__name__}")
    if argument.dtype != carrier(view.dtype):
        raise ArgumentError(f"'{view.name}' must have dtype {view.dtype.name}, not {argument.dtype}")
    if argument.ndim != view.rank:
        raise ArgumentError(f"'{view.name}' must have rank {view.rank}, not {argument.ndim}")
    for axis, (extent, actual) in enumerate(zip(view.shape, argument.shape, strict=True)):
        expected = _bind(extent, actual, symbols)
        if expected != actual:
            raise ArgumentError(f"axis {axis} of '{view.name}' must have extent {extent!r} = {expected}, not {actual}")
    if view.writable and not argument.flags.writeable:
        raise ArgumentError(f"'{view.name}' is written, but the array is read-only")
    return argument


def _bind(extent: Polynomial, actual: int, symbols: dict[str, int]) -> int:
    atom = extent.atom
    if isinstance(atom, Symbol):
        return symbols.setdefault(atom.name, actual)
    return extent.offset


def _check_scalar(parameter: ScalarParameter, argument: Argument) -> Array:
    dtype = parameter.dtype
    if isinstance(argument, (np.ndarray, np.generic)):
        if argument.shape != () or argument.dtype != carrier(dtype):
            raise ArgumentError(f"'{parameter.name}' must be a scalar of dtype {dtype.name}, not {argument.dtype}")
        return np.asarray(argument)
    if isinstance(argument, bool) != (dtype.kind == "bool") or (isinstance(argument, float) and not dtype.is_float):
        raise ArgumentError(f"'{parameter.name}' must be of dtype {dtype.name}, not {type(argument).__name__}")
    try:
        return literal(argument, dtype)
    except OverflowError:
        raise ArgumentError(f"{argument} does not fit '{parameter.name}' of dtype {dtype.name}") from None


def _store(view: View, arrays: Mapping[str, Array], options: Options) -> Store:
    """An Out starts undefined, unless it shares memory with a view that may define it."""
    array = arrays[view.name]
    shared = any(name != view.name and np.may_share_memory(array, other) for name, other in arrays.items())
    track = view.direction == "Out" and options.require_defined and not shared
    return Store(view.name, view.dtype, array, np.zeros(array.shape, np.bool_) if track else None)


__all__ = ["ArgumentError", "IllegalInput", "NotEvaluated", "Options", "allocate_outputs", "evaluate", "run"]
