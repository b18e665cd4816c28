"""Arguments of a call: which belongs to which parameter, and whether each fits its declaration.

TypeError for a wrong kind or dtype, ValueError for a wrong size or layout; the message names kernel and parameter.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, Final

from intent.host.arrays import (
    accepts,
    element_name,
    element_strides,
    is_numpy,
    is_numpy_scalar,
    is_read_only,
    is_tensor,
    library_of,
)
from intent.host.interface import Interface, Parameter

Values = tuple[object, ...]

LIMITS: Final = {
    **{f"i{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
    "index": (-(1 << 63), (1 << 63) - 1),
}
FLOATS: Final = ("f", "bf")  # what the names of float dtypes begin with


# ------------------------------------------------------------------------------------------------------------- binding
def bind(kernel: str, parameters: Sequence[Parameter], arguments: Values, keywords: Mapping[str, object]) -> Values:
    """One value for each parameter, in order. Constexprs are no parameters: they were bound by compiling."""
    if not keywords and len(arguments) == len(parameters):
        return arguments
    names = [parameter.name for parameter in parameters]
    if len(arguments) > len(names):
        raise TypeError(f"{kernel}: {len(arguments)} arguments for {len(names)} parameters ({', '.join(names)})")
    bound = dict(zip(names, arguments, strict=False))
    for name, value in keywords.items():
        if name not in names:
            raise TypeError(f"{kernel}: there is no parameter {name}; the parameters are {', '.join(names) or 'none'}")
        if name in bound:
            raise TypeError(f"{kernel}: {name} is given twice")
        bound[name] = value
    missing = [name for name in names if name not in bound]
    if missing:
        raise TypeError(f"{kernel}: {', '.join(missing)} missing; the parameters are {', '.join(names)}")
    return tuple(bound[name] for name in names)


def bind_inputs(
    interface: Interface, arguments: Values, keywords: Mapping[str, object]
) -> tuple[Values, dict[str, int]]:
    """Values for everything but `Out`, and the extents given for what only an `Out` has, by symbol."""
    if not keywords:
        return bind(interface.name, interface.inputs, arguments, {}), {}
    symbols = {keyword: symbol for symbol, keyword in interface.size_keywords.items()}
    rest = {name: value for name, value in keywords.items() if name not in symbols}
    sizes = {symbols[name]: _extent(interface, name, value) for name, value in keywords.items() if name in symbols}
    return bind(interface.name, interface.inputs, arguments, rest), sizes


def _extent(interface: Interface, keyword: str, value: object) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 0:
        return int(value)
    raise ValueError(f"{interface.name}: {keyword} must be a nonnegative integer, not {value!r}")


def require_sizes(interface: Interface, sizes: Mapping[str, int]) -> None:
    """Extents of outputs that no input shows must be given where outputs are to be allocated."""
    for symbol, keyword in interface.size_keywords.items():
        if symbol not in sizes:
            output = next(each.name for each in interface.outputs if symbol in each.shape)
            message = f"the extent {symbol} of {output} occurs in no input: pass {keyword}=..., or the output itself"
            raise ValueError(f"{interface.name}: {message} to {interface.name}_out or prepare(outputs=...)")


def with_outputs(interface: Interface, inputs: Sequence[object], outputs: Sequence[object]) -> Values:
    """Both in declaration order."""
    given, made = iter(inputs), iter(outputs)
    return tuple(next(made) if parameter.kind == "Out" else next(given) for parameter in interface.parameters)


# -------------------------------------------------------------------------------------------------------------- arrays
def check_arrays(
    kernel: str, parameters: Sequence[Parameter], values: Sequence[object], sizes: MutableMapping[str, int]
) -> None:
    """Hold every array against its declaration; `sizes` is completed with the extents of the symbols."""
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.is_view:
            _check_array(kernel, parameter, value, sizes)


def _check_array(kernel: str, parameter: Parameter, array: Any, sizes: MutableMapping[str, int]) -> None:  # noqa: ANN401
    check_kind(kernel, parameter, array)
    for axis, (extent, size) in enumerate(zip(parameter.shape, array.shape, strict=True)):
        expected = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
        if size != expected:
            raise ValueError(wrong_extent(kernel, parameter, axis, expected, tuple(array.shape)))
    if parameter.strides:
        _check_strides(kernel, parameter, array, sizes)
    if parameter.writable and is_read_only(array):
        raise ValueError(f"{kernel}: {parameter.name} is written, but the array is read-only")


def check_kind(kernel: str, parameter: Parameter, array: Any) -> None:  # noqa: ANN401 - an array of any library
    """Dtype and number of axes."""
    name, element, shape = f"{kernel}: {parameter.name}", element_name(array), tuple(array.shape)
    if not accepts(parameter, element):
        raise TypeError(f"{name} must have dtype {parameter.element}, not {element}")
    if len(shape) != len(parameter.shape):
        raise ValueError(f"{name} must have shape {_shown(parameter.shape)}, not {shape}")


def wrong_extent(kernel: str, parameter: Parameter, axis: int, expected: int, shape: tuple[int, ...]) -> str:
    """What is wrong with an array that has another extent than expected."""
    extent = parameter.shape[axis]
    known = expected if isinstance(extent, int) else f"{extent} = {expected}"
    return f"{kernel}: axis {axis} of {parameter.name} must be {known}, not {shape[axis]} (shape {shape})"


def _check_strides(kernel: str, parameter: Parameter, array: Any, sizes: MutableMapping[str, int]) -> None:  # noqa: ANN401
    """A stride is never used if its axis has one element at most, or the array none."""
    for axis, (stride, actual) in enumerate(zip(parameter.strides, element_strides(array), strict=True)):
        if stride is None or array.shape[axis] <= 1 or 0 in array.shape:
            continue
        expected = sizes.setdefault(stride, actual) if isinstance(stride, str) else stride
        if actual != expected:
            raise ValueError(f"{kernel}: stride {axis} of {parameter.name} must be {expected}, not {actual}")


def _shown(shape: Sequence[object]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def check_overlaps(
    kernel: str, parameters: Sequence[Parameter], arrays: Sequence[Any], values: Sequence[object]
) -> None:
    """Promises about memory: groups lie in one allocation, and nothing overlaps a view that promised `noalias`.

    `arrays` are the NumPy arrays that are used for the caller's `values`, in the same memory or copies.
    """
    import numpy as np

    for parameter, array in zip(parameters, arrays, strict=True):
        if parameter.writable and _folded(array):
            raise ValueError(f"{kernel}: {parameter.name} is written, but its elements overlap in memory")
    views = zip(parameters, arrays, values, strict=True)
    for (first, a, one), (second, b, other) in itertools.combinations(views, 2):
        if first.alias and first.alias == second.alias and _apart(one, other):
            raise ValueError(f"{kernel}: {first.name} and {second.name} must lie in one allocation")
        if (first.noalias or second.noalias) and np.shares_memory(a, b):
            raise ValueError(f"{kernel}: {first.name} and {second.name} overlap in memory, which they must not")


def _apart(first: object, second: object) -> bool:
    """Two arrays are certainly no parts of one allocation."""
    places = _allocation(first), _allocation(second)
    return None not in places and places[0] != places[1]


def _allocation(value: Any) -> int | None:  # noqa: ANN401 - an array of any library
    """Where the memory that an array is a part of begins; None if nobody says."""
    if is_tensor(value):
        return int(value.untyped_storage().data_ptr())
    while is_numpy(getattr(value, "base", None)):
        value = value.base
    return int(value.__array_interface__["data"][0]) if is_numpy(value) else None


def _folded(array: Any) -> bool:  # noqa: ANN401 - a NumPy array
    """Whether elements may overlap: an axis steps over less memory than the axes of smaller steps take."""
    taken = array.itemsize
    for step, size in sorted(zip(map(abs, array.strides), array.shape, strict=True)) if array.size else ():
        if size > 1 and step < taken:
            return True
        taken += step * (size - 1)
    return False


# ------------------------------------------------------------------------------------------------------------- scalars
def check_values(interface: Interface, values: Values) -> None:
    """Hold every argument against its declaration. What overlaps is for the launch to see."""
    library_of(interface.name, interface.parameters, values)
    check_arrays(interface.name, interface.parameters, values, {})
    for parameter, value in zip(interface.parameters, values, strict=True):
        if not parameter.is_view:
            check_scalar(interface.name, parameter, value)


def check_scalar(kernel: str, parameter: Parameter, value: object) -> bool | int | float:
    """The value as a Python number that the dtype can hold."""
    if is_numpy_scalar(value):
        value = value.item()
    match parameter.dtype:
        case "bool" if isinstance(value, bool):
            return value
        case dtype if dtype in LIMITS and isinstance(value, numbers.Integral) and not isinstance(value, bool):
            return _check_range(kernel, parameter, int(value))
        case dtype if dtype.startswith(FLOATS) and isinstance(value, numbers.Real) and not isinstance(value, bool):
            return _float(kernel, parameter, value)
        case _:
            raise TypeError(f"{kernel}: {parameter.name} must be a number of dtype {parameter.dtype}, not {value!r}")


def _float(kernel: str, parameter: Parameter, value: numbers.Real) -> float:
    try:
        return float(value)
    except OverflowError:
        message = f"{parameter.name} must fit {parameter.dtype}, but is beyond every float"
        raise ValueError(f"{kernel}: {message}") from None


def _check_range(kernel: str, parameter: Parameter, value: int) -> int:
    low, high = LIMITS[parameter.dtype]
    if not low <= value <= high:
        raise ValueError(f"{kernel}: {parameter.name} must fit {parameter.dtype}, but is {value}")
    return value
