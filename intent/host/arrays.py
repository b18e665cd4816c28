"""Arrays of any library, asked for the few facts that calls depend on. Libraries are found, never loaded, here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from intent.host.interface import CARRIERS, Parameter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    NumpyArray = npt.NDArray[np.generic]

Library = Literal["numpy", "device", "none"]


def is_numpy(value: object) -> TypeGuard[NumpyArray]:
    """An array or a scalar of NumPy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic))


def is_numpy_scalar(value: object) -> TypeGuard[np.generic]:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def is_tensor(value: object) -> TypeGuard[torch.Tensor]:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_device_array(value: object) -> bool:
    """A torch tensor, or an array of another library that torch can wrap without a copy."""
    if is_tensor(value):
        return True
    return not is_numpy(value) and (hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__"))


def is_read_only(array: Any) -> bool:  # noqa: ANN401 - an array of any library
    """Whether the array says that it must not be written: through DLPack, by refusing an exchange without versions."""
    if is_numpy(array):
        return not array.flags.writeable
    if is_tensor(array) or hasattr(array, "__cuda_array_interface__"):
        return False
    try:
        array.__dlpack__()
    except BufferError:
        return True
    return False


def element_name(array: Any) -> str:  # noqa: ANN401 - an array of any library
    """The dtype as torch and NumPy both write it."""
    return (
        str(array.dtype).removeprefix("torch.") if is_tensor(array) else str(getattr(array.dtype, "name", array.dtype))
    )


def element_strides(array: Any) -> tuple[int, ...]:  # noqa: ANN401 - an array of any library
    """Strides counted in elements."""
    if is_tensor(array):
        return tuple(array.stride())
    return tuple(stride // array.itemsize for stride in array.strides)


def library_of(kernel: str, parameters: Sequence[Parameter], values: Sequence[object]) -> Library:
    """Where the arrays of a call live: all of them with NumPy, or all on a device."""
    found: dict[Library, str] = {}
    for parameter, value in zip(parameters, values, strict=True):
        if not parameter.is_view:
            continue
        if not is_numpy(value) and not is_device_array(value):
            kind = type(value).__name__
            raise TypeError(f"{kernel}: {parameter.name} must be a NumPy array or a device array, not {kind}")
        found.setdefault("numpy" if is_numpy(value) else "device", parameter.name)
    if len(found) > 1:
        message = f"{found['numpy']} is a NumPy array and {found['device']} a device array; pass one kind"
        raise TypeError(f"{kernel}: {message}")
    return next(iter(found), "none")


def accepts(parameter: Parameter, element: str) -> bool:
    """Whether arrays of this dtype can be passed; bfloat16 and float8 may come as integers of their width."""
    return element in (parameter.element, CARRIERS.get(parameter.element))
