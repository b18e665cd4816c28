"""Kernels on a GPU, or in Triton's interpreter on the CPU: the generated module is loaded and its functions are called.

NumPy arguments go through the module's host functions, which copy to the device and back, and others through its device
functions. The module checks all arguments, and repeats what it launched for arguments of the same form. What is here
comes before every call, so it is little: one look at the first array, which says whose functions to call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from types import ModuleType
from typing import Any

from intent.host.arguments import Values, check_arrays, require_sizes, with_outputs
from intent.host.arrays import is_tensor, library_of
from intent.host.interface import Parameter
from intent.host.interpreter import device_of, interpreted
from intent.host.loading import load_module
from intent.host.outputs import numpy_outputs, tensor_outputs
from intent.host.translation import TranslatedKernel
from intent.targets import TritonTarget


class TritonExecution:
    """A kernel of a generated module. The module is loaded, and torch and triton with it, by the first call.

    The target's device is the one that arrays must be on; None leaves it to them, and NumPy arguments to the current
    device.
    """

    def __init__(self, kernel: TranslatedKernel, source: str, stem: str, target: TritonTarget) -> None:
        self._interface, self._functions = kernel.interface, kernel.functions
        self._source, self._stem = source, stem
        self._target, self._ordinal = target, target.device
        views = (place for place, each in enumerate(self._interface.parameters) if each.is_view)
        self._first = next(views, None)

    def launch(self, values: Values) -> None:
        """Execute; every runtime parameter is given."""
        try:
            if self._first is not None and type(values[self._first]) is self._tensor:
                if self._ordinal is not None:
                    self._check_device(values, self._interface.parameters)
                self._device_out(*values)
                return
        except (TypeError, ValueError):
            self._library(values, self._interface.parameters)  # says it better where kinds of arrays are mixed
            raise
        if self._library(values, self._interface.parameters) == "numpy":
            with self._current_device():
                self._function(self._functions.host_out)(*values)
        else:
            self._check_device(values, self._interface.parameters)
            self._device_out(*values)

    def run(self, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
        """Execute and give the outputs, which the module allocates if it sees arrays."""
        library = self._library(inputs, self._interface.inputs)
        if library == "none":
            allocated = self.allocate(inputs, sizes)
            self.launch(with_outputs(self._interface, inputs, allocated))
            return allocated
        require_sizes(self._interface, sizes)
        keywords = {self._functions.sizes[symbol]: size for symbol, size in sizes.items()}
        if library == "numpy":
            with self._current_device():
                result = self._function(self._functions.host)(*inputs, **keywords)
        else:
            self._check_device(inputs, self._interface.inputs)
            result = self._function(self._functions.device)(*inputs, **keywords)
        return result if isinstance(result, tuple) else () if result is None else (result,)

    def allocate(self, inputs: Values, sizes: Mapping[str, int]) -> Sequence[object]:
        """Memory for the outputs, of the library that the inputs are of; the inputs are checked."""
        known = dict(sizes)
        library = self._library(inputs, self._interface.inputs)
        require_sizes(self._interface, known)
        check_arrays(self._interface.name, self._interface.inputs, inputs, known)
        if library == "numpy":
            return numpy_outputs(self._interface, inputs, known)
        self._check_device(inputs, self._interface.inputs)
        return tensor_outputs(self._interface, inputs, known, device_of(self._target))

    # ---------------------------------------------------------------------------------------------------------- module
    @cached_property
    def _module(self) -> ModuleType:
        return load_module(self._source, self._stem)

    def _function(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self._module, name)
        return function

    @cached_property
    def _device_out(self) -> Callable[..., None]:
        return self._function(self._functions.device_out)

    @cached_property
    def _tensor(self) -> type:
        import torch

        tensor: type = torch.Tensor
        return tensor

    def _library(self, values: Values, parameters: tuple[Parameter, ...]) -> str:
        return library_of(self._interface.name, parameters, values)

    # ---------------------------------------------------------------------------------------------------------- device
    def _check_device(self, values: Values, parameters: tuple[Parameter, ...]) -> None:
        """Against the target's; whether the arguments are on one device, and a GPU, is for the module to say."""
        for parameter, value in zip(parameters, values, strict=True):
            if self._ordinal is not None and is_tensor(value) and value.is_cuda and value.get_device() != self._ordinal:
                message = f"{parameter.name} is on {value.device}, expected an array on cuda:{self._ordinal}"
                raise ValueError(f"{self._interface.name}: {message}")

    def _current_device(self) -> AbstractContextManager[object]:
        """Makes the target's device the current one."""
        if self._ordinal is None or interpreted():
            return nullcontext()
        import torch

        context: AbstractContextManager[object] = torch.cuda.device(self._ordinal)
        return context
