"""Kernels on the reference target: evaluated statement by statement with NumPy, on any machine.

Arrays on a device are copied to the host and, if the kernel writes them, back; everything else is used where it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from intent.host.arguments import Values, check_arrays, check_overlaps, check_scalar, require_sizes, with_outputs
from intent.host.arrays import is_numpy, is_tensor, library_of
from intent.host.errors import UnsupportedError
from intent.host.interface import CARRIERS, Interface, Parameter
from intent.host.outputs import numpy_outputs, tensor_outputs
from intent.records import dataclass
from translators.logical.program import Kernel
from translators.logical.reference import IllegalInput, NotEvaluated, evaluate
from translators.logical.reference_numerics import CARRIERS as ELEMENTS
from translators.logical.reference_numerics import Array

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class HostCopy:
    """An argument as the evaluator takes it, and where it must be copied back to; None if its own memory is used."""

    array: Array
    original: object | None

    def write_back(self) -> None:
        if is_tensor(self.original):
            self.original.copy_(_tensor(self.array, self.original))
        elif is_numpy(self.original):
            self.original[...] = self.array.view(self.original.dtype.newbyteorder("="))


@dataclass(frozen=True, slots=True)
class ReferenceExecution:
    """A kernel as a logical program."""

    interface: Interface
    kernel: Kernel

    def launch(self, values: Values) -> None:
        """Execute; every runtime parameter is given."""
        name, parameters = self.interface.name, self.interface.parameters
        library_of(name, parameters, values)
        check_arrays(name, parameters, values, {})
        pairs = list(zip(parameters, values, strict=True))
        copies = {each.name: _on_host(each, value) for each, value in pairs if each.is_view}
        given = [value for each, value in pairs if each.is_view]
        check_overlaps(name, self._views, [copies[each.name].array for each in self._views], given)
        _check_copies(name, pairs)
        scalars = {each.name: check_scalar(name, each, value) for each, value in pairs if not each.is_view}
        self._evaluate({each: copy.array for each, copy in copies.items()} | scalars)
        for parameter in self._views:
            if parameter.writable:
                copies[parameter.name].write_back()

    def run(self, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
        """Execute and give the outputs, which are allocated here."""
        outputs = self.allocate(inputs, sizes)
        self.launch(with_outputs(self.interface, inputs, outputs))
        return outputs

    def allocate(self, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
        """Memory for the outputs, of the library that the inputs are of; the inputs are checked."""
        known = dict(sizes)
        library = library_of(self.interface.name, self.interface.inputs, inputs)
        require_sizes(self.interface, known)
        check_arrays(self.interface.name, self.interface.inputs, inputs, known)
        if library == "device":
            return tensor_outputs(self.interface, inputs, known, "cpu")
        return numpy_outputs(self.interface, inputs, known)

    @property
    def _views(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.interface.parameters if parameter.is_view)

    def _evaluate(self, arguments: Mapping[str, Any]) -> None:
        try:
            evaluate(self.kernel, arguments)
        except IllegalInput as illegal:
            raise ValueError(f"{self.interface.name}: {illegal}") from illegal
        except NotEvaluated as missing:
            raise UnsupportedError(f"{self.interface.name}: {missing}") from missing


# ----------------------------------------------------------------------------------------------------------- to NumPy
def _on_host(parameter: Parameter, value: Any) -> HostCopy:  # noqa: ANN401 - an array of any library
    """The same memory wherever NumPy can use it."""
    if is_numpy(value):
        array = np.asarray(value)
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        return HostCopy(_with_element(native, parameter), None if native is array else value)
    tensor = _as_tensor(value)
    array = _numpy(tensor.detach().cpu())
    return HostCopy(_with_element(array, parameter), None if tensor.device.type == "cpu" else tensor)


def _as_tensor(value: Any) -> torch.Tensor:  # noqa: ANN401 - an array of any library
    import torch

    return value if isinstance(value, torch.Tensor) else torch.from_dlpack(value)


def _numpy(tensor: torch.Tensor) -> Array:
    """bfloat16 and float8 as integers of their width, which NumPy has."""
    import torch

    carrier = CARRIERS.get(str(tensor.dtype).removeprefix("torch."))
    array: Array = (tensor.view(getattr(torch, carrier)) if carrier else tensor).numpy()
    return array


def _with_element(array: Array, parameter: Parameter) -> Array:
    """Integers that carry bfloat16 or float8 become arrays of that type, in the same memory."""
    element = ELEMENTS[parameter.dtype]
    return array if array.dtype == element else array.view(element)


def _tensor(array: Array, like: torch.Tensor) -> torch.Tensor:
    import torch

    name = array.dtype.name
    plain = torch.from_numpy(array.view(CARRIERS[name]) if name in CARRIERS else array)
    return plain if plain.dtype == like.dtype else plain.view(like.dtype)


def _check_copies(kernel: str, pairs: Sequence[tuple[Parameter, Any]]) -> None:
    """Arrays that are copied one by one lose what they share."""
    copied = [
        (each, value) for each, value in pairs if each.is_view and is_tensor(value) and value.device.type != "cpu"
    ]
    for (first, a), (second, b) in itertools.combinations(copied, 2):
        if (first.writable or second.writable) and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr():
            message = f"{first.name} and {second.name} share device memory; the reference target takes them on the host"
            raise ValueError(f"{kernel}: {message}")
